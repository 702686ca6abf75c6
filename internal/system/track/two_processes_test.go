package track

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// One of two tracking servers keeps the schedule. When it is killed, the other one starts what is due; a slot that is
// started again, by both of them, is asked once; and starts at both of them together keep within a budget.
func TestTwoTrackingServersAreAsOne(t *testing.T) {
	t.Parallel()
	o := newOpenAI(t)
	k := twoServersOf(t, o)
	k.makeDue(t, k.Brand.ID)
	wait.For(t, "the first brand's requests", func() bool { return o.asked.Load() == 5 && k.ended(t) == 5 })
	leader := slices.IndexFunc(k.servers[:], startedBySchedule)
	if leader < 0 || startedBySchedule(k.servers[1-leader]) {
		t.Fatal("want one of the two to have started a job by schedule")
	}
	k.servers[leader].Stop(t, syscall.SIGKILL)
	k.makeDue(t, k.BrandToTrack(t, "Glow", 5).ID)
	killed := time.Now()
	wait.For(t, "a job of the second brand", func() bool { return k.jobs(t) == 2 })
	t.Logf("the leader was killed, and the other one has started what was due after %s",
		time.Since(killed).Round(time.Second))
	wait.For(t, "the second brand's requests", func() bool { return o.asked.Load() == 10 && k.ended(t) == 10 })

	k.startServer(t, leader)
	k.checkSlotAgain(t)
	k.checkBudgetOfBoth(t)
	wait.For(t, "the requests of the two starts", func() bool { return k.ended(t) == 20 })
	if asked := o.asked.Load(); asked != 20 {
		t.Errorf("%d requests, want 10 by schedule and 10 by hand", asked)
	}
}

// twoServers are two tracking servers of one installation.
type twoServers struct {
	*run.Tracker
	servers [2]*run.Server
}

func twoServersOf(t *testing.T, o *openAI) *twoServers {
	t.Helper()
	settings := append(o.settings(), "ANSWERSCOPE_START_LIMIT=0")
	k := &twoServers{Tracker: run.TrackerOf(t, run.Install(t, nil, settings...), 5)}
	run.Must(t, k.Env, "migrate")
	for i := range k.servers {
		k.startServer(t, i)
	}
	return k
}

func (k *twoServers) startServer(t *testing.T, i int) {
	t.Helper()
	k.servers[i] = run.Serve(t, append(slices.Clone(k.Env), "ANSWERSCOPE_DATA_DIR="+run.DataDir(t)), "ingest")
}

// makeDue has a brand asked once a month, for the first time now.
func (k *twoServers) makeDue(t *testing.T, brand uuid.UUID) {
	t.Helper()
	if err := k.DB.EnsureBrandPlatform(t.Context(), brand, "openai", "monthly"); err != nil {
		t.Fatal(err)
	}
}

func startedBySchedule(s *run.Server) bool {
	return strings.Contains(s.Log.String(), "tracking job started by schedule")
}

func (k *twoServers) jobs(t *testing.T) int {
	t.Helper()
	return k.count(t, "SELECT count(*) FROM tracking_jobs")
}

// ended is how many runs have ended and are on the log.
func (k *twoServers) ended(t *testing.T) int {
	t.Helper()
	return k.count(t, "SELECT count(*) FROM tracking_runs WHERE state = 'done'")
}

func (k *twoServers) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := k.DB.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// checkSlotAgain has both servers start a slot for a second time, twice each, while their schedule does so, too: as if
// a process had died after it started the jobs, and before it noted when they are due next.
func (k *twoServers) checkSlotAgain(t *testing.T) {
	t.Helper()
	k.Edit(t, "UPDATE brand_platforms SET last_checked_at = NULL, next_check_at = NULL")
	var together sync.WaitGroup
	for range 2 {
		for _, s := range k.servers {
			together.Go(func() {
				at := &run.Tracker{Installation: &run.Installation{Server: s}}
				var answer cronAnswer
				status, _ := at.Ask(t, "wind", "POST", "/cron/daily-tracking", "", &answer)
				if status != 200 || len(answer.Jobs) != 0 || len(answer.Skipped) != 2 {
					t.Errorf("the slot again: %d %+v", status, answer)
				}
			})
		}
	}
	together.Wait()
	if jobs := k.jobs(t); jobs != 2 {
		t.Errorf("%d jobs, want 2", jobs)
	}
}

// checkBudgetOfBoth starts eight jobs together, at both servers: two have room.
func (k *twoServers) checkBudgetOfBoth(t *testing.T) {
	t.Helper()
	run.Must(t, k.Env, "budget", "set", "--org", "acme", "--platform", "openai", "--runs-per-day", "24")
	var together sync.WaitGroup
	var started, refused atomic.Int64
	countries := []string{"at", "be", "ch", "de", "es", "fr", "gb", "it"}
	for n := range countries {
		together.Go(func() {
			at := &run.Tracker{Installation: &run.Installation{Server: k.servers[n%2]}}
			body := fmt.Sprintf(`{"brandId":%q,"platforms":["openai"],"regions":[%q]}`, k.Brand.ID, countries[n])
			var answer struct{ Error string }
			switch status, _ := at.Ask(t, k.Tracker.Key, "POST", "/api/tracking/start", body, &answer); {
			case status == 200:
				started.Add(1)
			case status == 429 && strings.Contains(answer.Error, "budget"):
				refused.Add(1)
			default:
				t.Errorf("start: %d %q", status, answer.Error)
			}
		})
	}
	together.Wait()
	if started.Load() != 2 || refused.Load() != 6 {
		t.Errorf("%d starts and %d refusals, want 2 and 6", started.Load(), refused.Load())
	}
}
