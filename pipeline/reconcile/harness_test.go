package reconcile_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is a database of each kind of their own, and a prefix on a broker.
type world struct {
	warehouse string // DSN
	control   string // DSN
	brokers   []string
	prefix    string

	conn *clickhouse.Conn
	db   *postgres.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{warehouse: store.Warehouse(t).DSN, control: store.ControlPlane(t).DSN, brokers: testkit.Kafka(t), prefix: testkit.Prefix(t)}
	w.conn, w.db = open(t, w.warehouse, w.control)
	return w
}

func open(t *testing.T, warehouse, control string) (*clickhouse.Conn, *postgres.DB) {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = warehouse
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // of a wire that was cut it says so
	p := postgres.DefaultConfig()
	p.DSN = control
	db, err := postgres.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return conn, db
}

// reconciler is one of a process of its own.
func (w *world) reconciler(t *testing.T, conn *clickhouse.Conn, db *postgres.DB) *reconcile.Reconciler {
	t.Helper()
	cfg := reconcile.DefaultConfig()
	cfg.Brokers = w.brokers
	cfg.Sinks = []reconcile.Sink{{Group: w.prefix + "sink", Topic: w.prefix + "visits"}}
	cfg.Pause, cfg.Outlast, cfg.Tries = 50*time.Millisecond, 3*time.Second, 20
	return reconcilerOf(t, cfg, conn, db)
}

func reconcilerOf(t *testing.T, cfg reconcile.Config, conn *clickhouse.Conn, db *postgres.DB) *reconcile.Reconciler {
	t.Helper()
	r, err := reconcile.New(cfg, db, conn, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) reconcile(t *testing.T, scope reconcile.Scope) *reconcile.Report {
	t.Helper()
	report, err := w.reconciler(t, w.conn, w.db).Reconcile(t.Context(), scope, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (w *world) exec(t *testing.T, statement string) {
	t.Helper()
	if err := w.conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(statement, err)
	}
}

func (w *world) number(t *testing.T, question string) int64 {
	t.Helper()
	var n int64
	if err := w.conn.QueryRow(t.Context(), "SELECT toInt64("+question+")").Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// land inserts n answers and visits of two brands into March and April, from an
// offset on: all that a rollup is made of is in them.
func (w *world) land(t *testing.T, first, n int) {
	t.Helper()
	w.exec(t, fmt.Sprintf(`INSERT INTO answers (organization_id, brand_id, day, id, sign, log_topic, log_partition, log_offset, answered_at, platform, prompt_id,
			mention_count, position, citation_count, visibility_score,
			competitors.id, competitors.name, competitors.mention_count, competitors.position, competitors.citation_count, competitors.visibility_score, competitors.sentiment,
			citations.url, citations.title, citations.cited, citations.host, citations.domain, citations.listed_type, citations.owned, citations.competitor_id,
			cards.position, cards.title, cards.brand, cards.price_amount, cards.price_currency, cards.image_url, cards.merchant_url, cards.merchant_domain, cards.rating, cards.review_count, cards.matched_id, cards.role)
		SELECT toUUID('00000000-0000-0000-0000-000000000001'), toUUID('00000000-0000-0000-0000-00000000000' || toString(number %% 2 + 1)), toDate('2026-03-05') + number %% 40,
			generateUUIDv4(number), if(number %% 9 = 8, -1, 1), 'answers', number %% 3, number, toDateTime64('2026-03-05 10:00:00', 3) + number, 'openai', toUUID('00000000-0000-0000-0000-0000000000aa'),
			number %% 3, number %% 4, number %% 2, number %% 101,
			[toUUID('00000000-0000-0000-0000-0000000000bb')], ['Rival'], [number %% 2], [number %% 3], [0], [number %% 50], ['neutral'],
			['https://a.example/' || toString(number %% 5)], ['A'], [true], ['a.example'], ['a.example'], ['forum'], [false], [toUUID('00000000-0000-0000-0000-000000000000')],
			[1], ['Thing'], [''], [NULL], ['EUR'], [''], [''], [''], [4.5], [NULL], [toUUID('00000000-0000-0000-0000-000000000000')], ['other']
		FROM numbers(%d, %d)`, first, n))
	w.exec(t, fmt.Sprintf(`INSERT INTO visits (organization_id, brand_id, day, id, log_topic, log_partition, log_offset, at, event, platform, host, path, new_session, goal_value)
		SELECT toUUID('00000000-0000-0000-0000-000000000001'), toUUID('00000000-0000-0000-0000-00000000000' || toString(number %% 2 + 1)), toDate('2026-03-05') + number %% 40,
			generateUUIDv7(number), 'visits', number %% 3, number, toDateTime64('2026-03-05 10:00:00', 3) + number, 'goal', 'chatgpt', 'a.example', '/' || toString(number %% 5), true, number / 7
		FROM numbers(%d, %d)`, first, n))
}

// monthly are the rollups that have months.
var monthly = []string{"answer_daily", "citation_daily", "citations", "entity_prompt_daily", "shopping_cards", "visit_daily"}

// places says of findings where they are and what became of them.
func places(r *reconcile.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprint(f.Table, " ", f.Month, " ", f.State, f.Cause))
	}
	return strings.Join(all, ", ")
}
