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
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/results"
)

func (e *environment) wantRows(t *testing.T, want ...string) {
	t.Helper()
	if got := e.rows(t); !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (e *environment) wantCounted(t *testing.T, want map[string]float64) {
	t.Helper()
	if got := e.counted(t); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestEachAnswerHasARow(t *testing.T) {
	brokers := testkit.Kafka(t)
	e := newEnvironment(t, brokers)
	givenUp := e.answer(9)
	givenUp.Text, givenUp.GivenUp, givenUp.Finish = "", &event.GivenUp{Class: "timeout"}, ""
	e.append(t, encoded(t, e.answer(0), e.answer(1), e.answer(0), givenUp)...)
	e.append(t, []byte("{"), encoded(t, e.answer(2))[0])
	e.append(t, encoded(t, e.renamed(1), e.renamed(1), e.answer(1))...)
	e.run(t, e.writer(t), 7, e.committed(t, 9))
	e.wantRows(t, e.first(0), e.again(1), e.first(2))
	e.wantCounted(t, map[string]float64{"inserted": 3, "corrected": 1, "duplicate": 3, "skipped": 2})
}

// A surface that was seen without an answer has a row without text and without a score, which a reread leaves so.
func TestASurfaceThatWasNotShownHasARowWithoutAScore(t *testing.T) {
	e := newEnvironment(t, nil)
	first, again := e.answer(1), e.renamed(1)
	for _, a := range []*event.Answer{first, again} {
		a.Text, a.Finish, a.Provider = "", event.FinishNotShown, "serpapi"
	}
	for _, a := range []*event.Answer{first, again} {
		e.write(t, e.writer(t), a)
		rows := e.query(t, `concat_ws('|', response, finish, provider, revision, mention_count, `+
			`coalesce(visibility_score::text, 'null'))`)
		if want := fmt.Sprintf("|not_shown|serpapi|%d|0|null", a.Brand.Revision); !slices.Equal(rows, []string{want}) {
			t.Errorf("rows %q, want %s", rows, want)
		}
	}
}

// crashing fails at one step of one batch, as a process that is killed there.
type crashing struct {
	*results.Results
	batch   int32 // counts down to the batch
	after   bool  // the rows were written
	crashed chan struct{}
}

var errCrash = errors.New("crash")

func (c *crashing) Insert(ctx context.Context, b *consume.Batch[results.Item], checkOwnership func() error) error {
	left := atomic.AddInt32(&c.batch, -1)
	if left > 0 {
		return c.Results.Insert(ctx, b, checkOwnership)
	}
	if left == 0 {
		if c.after {
			if err := c.Results.Insert(ctx, b, checkOwnership); err != nil {
				return err
			}
		}
		close(c.crashed)
	}
	return errCrash
}

// A writer that is killed before or after its transaction leaves a plan. The next one has other limits, and writes the
// same rows.
func TestACrashLeavesTheRowsAsTheyShouldBe(t *testing.T) {
	brokers := testkit.Kafka(t)
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the commit %v", after), func(t *testing.T) {
			e := newEnvironment(t, brokers)
			e.append(t, encoded(t, e.answers(0, 10)...)...)
			e.append(t, encoded(t, e.renamed(3), e.answer(3), e.renamed(8))...)
			c := &crashing{Results: e.writer(t), batch: 3, after: after, crashed: make(chan struct{})}
			e.run(t, c, 4, func(*consume.Consumer[results.Item]) bool {
				select {
				case <-c.crashed:
					return true
				default:
					return false
				}
			})
			e.append(t, encoded(t, e.answer(10), e.renamed(8))...)
			e.run(t, e.writer(t), 1000, e.committed(t, 15))
			want := []string{}
			for n := range 11 {
				want = append(want, e.first(n))
			}
			want[3], want[8] = e.again(3), e.again(8)
			e.wantRows(t, want...)
		})
	}
}

// While Postgres is away the log buffers, and nothing is lost or written twice.
func TestPostgresMayGoAway(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	config := e.root.Config()
	admin := config.Copy()
	admin.Database = "postgres"
	keeper, err := pgx.ConnectConfig(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close(context.WithoutCancel(t.Context()))
	connections := func(allowed bool) {
		t.Helper()
		if _, err := keeper.Exec(t.Context(),
			fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %v", config.Database, allowed)); err != nil {
			t.Fatal(err)
		}
	}
	e.append(t, encoded(t, e.answers(0, 5)...)...)
	var away time.Time
	e.run(t, e.writer(t), 3, func(c *consume.Consumer[results.Item]) bool {
		switch {
		case away.IsZero() && e.committed(t, 5)(c):
			connections(false)
			if _, err := keeper.Exec(t.Context(),
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
				config.Database); err != nil {
				t.Fatal(err)
			}
			e.append(t, encoded(t, append(e.answers(3, 8), e.renamed(0))...)...)
			away = time.Now()
		case !away.IsZero() && time.Since(away) > time.Second:
			connections(true)
			return e.committed(t, 11)(c)
		}
		return false
	})
	if e.root, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer e.root.Close(context.WithoutCancel(t.Context()))
	e.wantRows(t, e.again(0), e.first(1), e.first(2), e.first(3), e.first(4), e.first(5), e.first(6), e.first(7))
}

// A row that Postgres will never take is left out, and only it.
func TestARefusedRowIsLeftOut(t *testing.T) {
	e := newEnvironment(t, nil)
	bad := e.answer(2)
	bad.Platform = strings.Repeat("x", 600)
	worse := e.renamed(1)
	worse.Platform = bad.Platform // changes no platform, and would be refused all the same
	e.write(t, e.writer(t), e.answer(0), e.answer(1), bad, e.answer(3), e.answer(4), worse, e.renamed(4))
	e.wantRows(t, e.first(0), e.first(1), e.first(3), e.again(4))
	e.wantCounted(t, map[string]float64{"inserted": 4, "corrected": 1, "refused": 2})
}

func TestAnAnswerOfADeletedPromptHasNoRow(t *testing.T) {
	e := newEnvironment(t, nil)
	e.exec(t, "DELETE FROM public.prompts WHERE id = $1", e.prompts[1].ID)
	late, strange := e.answer(1), e.answer(2)
	late.Prompt.ID, strange.OrganizationID = e.prompts[1].ID, unknownOrganization
	old := e.answer(24 * 100)
	e.write(t, e.writer(t), e.answer(0), late, strange, old)
	e.wantRows(t, e.first(0))
	e.wantCounted(t, map[string]float64{"inserted": 1, "orphaned": 2, "old": 1})
	e.exec(t, "DELETE FROM public.brands WHERE id = $1", e.brand.BrandID)
	e.write(t, e.writer(t), e.answer(3), e.renamed(0))
	e.wantRows(t)
}

// Within a batch as from batch to batch, the first record of an answer counts, and then its newest reread.
func TestABatchHasManyRecordsOfOneAnswer(t *testing.T) {
	e := newEnvironment(t, nil)
	other := e.answer(0)
	other.Text, other.Brand.Revision = "Beam", other.Brand.Revision+7
	older := e.renamed(0)
	older.Brand.Revision--
	for range 2 { // and once more, as after a crash
		e.write(t, e.writer(t), e.answer(0), other, older, e.renamed(0), older, e.answer(0))
		e.wantRows(t, e.again(0))
	}
}

func TestOldRowsArePruned(t *testing.T) {
	e := newEnvironment(t, nil)
	writer := e.writer(t)
	e.write(t, writer, e.answers(0, 20)...)
	e.exec(t, "UPDATE public.prompt_results SET platform = 'gemini' WHERE response LIKE '%answer 15.'")
	e.exec(t, "ALTER TABLE public.prompt_results DISABLE TRIGGER stamp") // it holds the time
	e.exec(t, "UPDATE public.prompt_results SET created_at = created_at - INTERVAL '90 days' WHERE created_at < $1",
		today.Add(-2*time.Hour))
	if err := writer.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.wantRows(t, e.first(0), e.first(1), e.first(2), e.first(15))
}

// A reread waits for a build with the extractor that it asks for. A plan of any extractor is replayed with a current
// one.
func TestRereadsWaitForTheirExtractor(t *testing.T) {
	e := newEnvironment(t, nil)
	writer := e.writer(t)
	later := e.renamed(0)
	later.Reread.MinExtractVersion = writer.Version() + 1
	if _, _, err := writer.Decode(writer.Version(),
		consume.Record{Value: encoded(t, later)[0]}); !errors.Is(err, event.ErrNewer) {
		t.Errorf("a reread for a later reader: %v", err)
	}
	newer := strings.Replace(string(encoded(t, e.answer(0))[0]), `"v":1`, `"v":99`, 1)
	if _, _, err := writer.Decode(writer.Version(),
		consume.Record{Value: []byte(newer)}); !errors.Is(err, event.ErrNewer) {
		t.Errorf("a newer record: %v", err)
	}
	if !writer.Supports(writer.Version() + 1) {
		t.Error("a plan of a later release stops the partition")
	}
	if _, _, err := writer.Decode(writer.Version()+1, consume.Record{Value: encoded(t, e.answer(0))[0]}); err != nil {
		t.Errorf("an answer that a later release planned: %v", err)
	}
}

// At an upgrade the sink reads with the newer extractor what this group had read with the older one. No reread comes
// for these answers. They are more than the 500 that are renewed at a time, and one of them is not in the warehouse.
func TestRenewTakesReadingsFromTheWarehouse(t *testing.T) {
	e := newEnvironment(t, nil)
	e.warehouse = store.OpenWarehouse(t, store.Warehouse(t))
	answers := e.answers(0, 504)
	answers[0].Citations = []event.Citation{
		{URL: "https://lumen.example/a", Title: "A", Cited: true}, {URL: "https://www.glow.example/"},
		{URL: "https://reddit.com/r/lamps", Cited: true},
	}
	writer := e.writer(t)
	e.write(t, writer, answers...)
	e.sink(t, slices.Concat(answers[:3], answers[4:])...)
	want := e.wholeRows(t)
	e.exec(t,
		`UPDATE public.prompt_results SET extract_version = 0, mention_count = 9, citation_count = 9,
			mention_position = 9, sentiment = 'unknown', visibility_score = 9,
		citations = '[]', competitor_mentions = '[]' WHERE response NOT LIKE '% 3.'`)
	if err := writer.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, row := range e.wholeRows(t) {
		if row != want[n] {
			t.Fatalf("row %d is\n%s\nwant\n%s", n, row, want[n])
		}
	}
	e.exec(t, "UPDATE public.prompt_results SET extract_version = 0")
	e.exec(t, "UPDATE public.prompt_results SET revision = revision + 1, mention_count = 7 WHERE response LIKE '% 2.'")
	if err := writer.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for n := range answers {
		rows = append(rows, e.first(n))
	}
	rows[2] = fmt.Sprintf("Glow is bright. Lumen is answer 2. %d: 7@2 among Glow 1, Beam 0", e.brand.Revision+1)
	e.wantRows(t, rows...)
}
