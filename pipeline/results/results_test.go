package results_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/results"
)

func (w *world) wantRows(t *testing.T, want ...string) {
	t.Helper()
	if got := w.rows(t); !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (w *world) wantCounted(t *testing.T, want map[string]float64) {
	t.Helper()
	if got := w.counted(t); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestEachAnswerHasARow(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers)
		givenUp := w.answer(9)
		givenUp.Text, givenUp.GivenUp, givenUp.Finish = "", &event.GivenUp{Class: "timeout"}, ""
		w.tell(t, encoded(t, w.answer(0), w.answer(1), w.answer(0), givenUp)...)
		w.tell(t, []byte("{"), encoded(t, w.answer(2))[0])
		w.tell(t, encoded(t, w.renamed(1), w.renamed(1), w.answer(1))...)
		w.run(t, w.writer(t), 7, w.committed(t, 9))
		w.wantRows(t, w.first(0), w.again(1), w.first(2))
		w.wantCounted(t, map[string]float64{"added": 3, "changed": 1, "repeated": 3, "unread": 2})
	})
}

// crashing fails at one step of one batch, as a process that was killed there.
type crashing struct {
	*results.Results
	batch   int32 // counts down to the batch
	after   bool  // the rows were written
	crashed chan struct{}
}

var errCrash = errors.New("crash")

func (c *crashing) Land(ctx context.Context, b *consume.Batch[results.Item], ours func() error) error {
	left := atomic.AddInt32(&c.batch, -1)
	if left > 0 {
		return c.Results.Land(ctx, b, ours)
	}
	if left == 0 {
		if c.after {
			if err := c.Results.Land(ctx, b, ours); err != nil {
				return err
			}
		}
		close(c.crashed)
	}
	return errCrash
}

// A writer that ends before or after its transaction leaves a plan; whoever comes
// next has other limits, and the rows are the same.
func TestACrashLeavesTheRowsAsTheyShouldBe(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("after the commit %v", after), func(t *testing.T) {
				w := newWorld(t, brokers)
				w.tell(t, encoded(t, w.answers(0, 10)...)...)
				w.tell(t, encoded(t, w.renamed(3), w.answer(3), w.renamed(8))...)
				c := &crashing{Results: w.writer(t), batch: 3, after: after, crashed: make(chan struct{})}
				w.run(t, c, 4, func(*consume.Consumer[results.Item]) bool {
					select {
					case <-c.crashed:
						return true
					default:
						return false
					}
				})
				w.tell(t, encoded(t, w.answer(10), w.renamed(8))...)
				w.run(t, w.writer(t), 1000, w.committed(t, 15))
				want := []string{}
				for n := range 11 {
					want = append(want, w.first(n))
				}
				want[3], want[8] = w.again(3), w.again(8)
				w.wantRows(t, want...)
			})
		}
	})
}

// While Postgres is away the log buffers, and nothing is lost or written twice.
func TestPostgresMayGoAway(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	config := w.root.Config()
	admin := config.Copy()
	admin.Database = "postgres"
	keeper, err := pgx.ConnectConfig(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close(context.WithoutCancel(t.Context()))
	connections := func(allowed bool) {
		t.Helper()
		if _, err := keeper.Exec(t.Context(), fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %v", config.Database, allowed)); err != nil {
			t.Fatal(err)
		}
	}
	w.tell(t, encoded(t, w.answers(0, 5)...)...)
	var away time.Time
	w.run(t, w.writer(t), 3, func(c *consume.Consumer[results.Item]) bool {
		switch {
		case away.IsZero() && w.committed(t, 5)(c):
			connections(false)
			if _, err := keeper.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", config.Database); err != nil {
				t.Fatal(err)
			}
			w.tell(t, encoded(t, append(w.answers(3, 8), w.renamed(0))...)...)
			away = time.Now()
		case !away.IsZero() && time.Since(away) > time.Second:
			connections(true)
			return w.committed(t, 11)(c)
		}
		return false
	})
	if w.root, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer w.root.Close(context.WithoutCancel(t.Context()))
	w.wantRows(t, w.again(0), w.first(1), w.first(2), w.first(3), w.first(4), w.first(5), w.first(6), w.first(7))
}

// A row that Postgres will never take is left out, and only it.
func TestARefusedRowIsLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	bad := w.answer(2)
	bad.Platform = strings.Repeat("x", 600)
	worse := w.renamed(1)
	worse.Platform = bad.Platform // changes no platform, and would be refused all the same
	w.land(t, w.writer(t), w.answer(0), w.answer(1), bad, w.answer(3), w.answer(4), worse, w.renamed(4))
	w.wantRows(t, w.first(0), w.first(1), w.first(3), w.again(4))
	w.wantCounted(t, map[string]float64{"added": 4, "changed": 1, "refused": 2})
}

func TestWhatHangsOnNothingHasNoRow(t *testing.T) {
	w := newWorld(t, nil)
	w.exec(t, "DELETE FROM public.prompts WHERE id = $1", w.prompts[1].ID)
	late, strange := w.answer(1), w.answer(2)
	late.Prompt.ID, strange.OrganizationID = w.prompts[1].ID, nobody
	old := w.answer(24 * 100)
	w.land(t, w.writer(t), w.answer(0), late, strange, old)
	w.wantRows(t, w.first(0))
	w.wantCounted(t, map[string]float64{"added": 1, "orphaned": 2, "old": 1})
	w.exec(t, "DELETE FROM public.brands WHERE id = $1", w.brand.BrandID)
	w.land(t, w.writer(t), w.answer(3), w.renamed(0))
	w.wantRows(t)
}

// Within a batch as from batch to batch: what is told first counts, and then the
// newest reading.
func TestABatchSaysMuchOfOneAnswer(t *testing.T) {
	w := newWorld(t, nil)
	other := w.answer(0)
	other.Text, other.Brand.Revision = "Beam", other.Brand.Revision+7
	older := w.renamed(0)
	older.Brand.Revision--
	for range 2 { // and once more, as after a crash
		w.land(t, w.writer(t), w.answer(0), other, older, w.renamed(0), older, w.answer(0))
		w.wantRows(t, w.again(0))
	}
}

func TestOldRowsGoAtNight(t *testing.T) {
	w := newWorld(t, nil)
	writer := w.writer(t)
	w.land(t, writer, w.answers(0, 20)...)
	w.exec(t, "UPDATE public.prompt_results SET platform = 'gemini' WHERE response LIKE '%answer 15.'")
	w.exec(t, "ALTER TABLE public.prompt_results DISABLE TRIGGER stamp") // it holds the time
	w.exec(t, "UPDATE public.prompt_results SET created_at = created_at - INTERVAL '90 days' WHERE created_at < $1", today.Add(-2*time.Hour))
	if err := writer.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantRows(t, w.first(0), w.first(1), w.first(2), w.first(15))
}

// A reread waits for the reader that it asks for; a plan of any reader is replayed
// with one that is there.
func TestRereadsWaitForTheirReader(t *testing.T) {
	w := newWorld(t, nil)
	writer := w.writer(t)
	later := w.renamed(0)
	later.Reread.MinExtractVersion = writer.Version() + 1
	if _, _, err := writer.Read(writer.Version(), consume.Record{Value: encoded(t, later)[0]}); !errors.Is(err, consume.ErrNewer) {
		t.Errorf("a reread for a later reader: %v", err)
	}
	newer := strings.Replace(string(encoded(t, w.answer(0))[0]), `"v":1`, `"v":99`, 1)
	if _, _, err := writer.Read(writer.Version(), consume.Record{Value: []byte(newer)}); !errors.Is(err, consume.ErrNewer) {
		t.Errorf("a newer record: %v", err)
	}
	if !writer.Supports(writer.Version() + 1) {
		t.Error("a plan of a later release stops the partition")
	}
	if _, _, err := writer.Read(writer.Version()+1, consume.Record{Value: encoded(t, w.answer(0))[0]}); err != nil {
		t.Errorf("an answer that a later release planned: %v", err)
	}
}

// At an upgrade the sink reads with the later reader what this group had read with the
// earlier one. Nobody tells that again.
func TestResultsTakeOverWhatTheWarehouseReads(t *testing.T) {
	w := newWorld(t, nil)
	w.openWarehouse(t)
	answers := w.answers(0, 4)
	answers[0].Citations = []event.Citation{{URL: "https://lumen.example/a", Title: "A", Cited: true}, {URL: "https://www.glow.example/"}, {URL: "https://reddit.com/r/lamps", Cited: true}}
	writer := w.writer(t)
	w.land(t, writer, answers...)
	w.sink(t, answers[:3]...)
	want := w.all(t)
	w.exec(t, `UPDATE public.prompt_results SET extract_version = 0, mention_count = 9, citation_count = 9, mention_position = 9, sentiment = 'unknown', visibility_score = 9,
		citations = '[]', competitor_mentions = '[]' WHERE response NOT LIKE '%3.'`)
	if err := writer.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.all(t); !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	w.exec(t, "UPDATE public.prompt_results SET extract_version = 0")
	w.exec(t, "UPDATE public.prompt_results SET revision = revision + 1, mention_count = 7 WHERE response LIKE '%2.'")
	if err := writer.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := fmt.Sprintf("Glow is bright. Lumen is answer 2. %d: 7@2 among Glow 1, Beam 0", w.brand.Revision+1)
	w.wantRows(t, w.first(0), w.first(1), later, w.first(3))
}

func TestConfigsAreChecked(t *testing.T) {
	if err := results.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	err := results.Config{}.Validate()
	for _, what := range []string{"extract version", "keep", "patience", "prune"} {
		if err == nil || !strings.Contains(err.Error(), "results "+what) {
			t.Errorf("Validate() = %v, lacks %s", err, what)
		}
	}
}
