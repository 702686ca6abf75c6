//go:build all

package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/queryapi/auth"
)

const (
	beaconRate     = 40 // a second
	linesAPortion  = 10
	portionPause   = 5 * time.Second
	acceptanceTime = 5 * time.Minute // after which a portion that is refused again and again is a failure
)

// load starts what comes in. end returns once all that has begun is accepted.
func (c *clusterTest) load(t *testing.T) (end func()) {
	t.Helper()
	c.log = followLog(t, c)
	c.beacons = browsing(c.site, c.service("collector"), 1)
	endBeacons := c.beacons.browse(t, beaconRate)
	user, err := c.DB.UserByEmail(t.Context(), "ana@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	tracking := c.MintKey(t, c.Installation.Organization.ID, user.ID, "tracking", auth.TrackingWrite)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var loads sync.WaitGroup
	for _, portion := range []func(n int){
		func(int) { c.bring(t) },
		func(n int) { c.track(t, tracking, n) },
		func(n int) { c.change(t, n) },
	} {
		loads.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				portion(n)
				select {
				case <-ctx.Done():
				case <-time.After(portionPause):
				}
			}
		})
	}
	stop := sync.OnceFunc(func() { endBeacons(); cancel(); loads.Wait() })
	t.Cleanup(stop)
	return stop
}

// accepted repeats what comes in until it is accepted: whether a repeat finds some of it done is the product's affair.
func (c *clusterTest) accepted(t *testing.T, what string, offer func() error) {
	t.Helper()
	for begin := time.Now(); ; <-time.After(time.Second) {
		err := offer()
		if err == nil {
			return
		}
		if t.Context().Err() != nil || time.Since(begin) > acceptanceTime {
			t.Errorf("%s is not accepted: %v", what, err)
			return
		}
	}
}

// command runs a command of answerscope.
func (c *clusterTest) command(t *testing.T, args ...string) error {
	out, err := run.Command(t.Context(), t, c.env, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return err
}

// bring imports some lines for each brand, and appends visits and crawls of its site.
func (c *clusterTest) bring(t *testing.T) {
	t.Helper()
	from, to := c.lines, c.lines+linesAPortion
	file := run.CapturedFrom(t, from, to)
	c.accepted(t, "an import", func() error {
		return c.command(t, "import", file, "--org", "acme", "--create", c.create)
	})
	c.accepted(t, "visits and crawls", func() error {
		return c.append(t.Context(), t, 30*time.Second, c.portions(t, from, to)...)
	})
	c.lines = to
}

// track has a job ask the simulator about every prompt, and waits for its end.
func (c *clusterTest) track(t *testing.T, key string, n int) {
	t.Helper()
	var started struct{ JobID string }
	c.accepted(t, "a job", func() error {
		body := fmt.Sprintf(`{"brandId":%q,"platforms":["simulator"]}`, c.tracked.ID)
		return c.request("POST", "start", key, fmt.Sprint("job ", n), body, &started)
	})
	var job run.Job
	c.accepted(t, "the end of a job", func() error {
		err := c.request("GET", "job/"+started.JobID+"?wait=20", key, "", "", &job)
		if err == nil && job.Result == nil {
			err = fmt.Errorf("job %s is %s", started.JobID, job.Status)
		}
		return err
	})
	c.runs += int64(job.Progress.Total)
}

// request asks for tracking, behind the balancer.
func (c *clusterTest) request(method, path, key, idempotency, body string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	url := c.service("ingest").URL + "/api/tracking/" + path
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if idempotency != "" {
		request.Header.Set("Idempotency-Key", idempotency)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return cmp.Or(err, json.Unmarshal(text, into))
}

// change edits the last brand, and deletes one brand every twentieth time. What a fault cuts off is not repeated.
func (c *clusterTest) change(t *testing.T, n int) {
	t.Helper()
	statement, brand := editings[n%len(editings)], c.brands[len(c.brands)-1]
	if at := n / 20; n%20 == 19 && at < len(c.doomed) {
		statement, brand = "DELETE FROM public.brands WHERE id = $1", c.doomed[at]
	}
	_ = run.InPostgres(t, c.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement, brand)
		return err
	})
}

// notAccepted counts the beacons that got no answer, or a request to send them again.
func (b *browserLoad) notAccepted() int { return b.count(0) + b.count(http.StatusServiceUnavailable) }
