package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// fixture is a warehouse and a control plane of the test's own, and a prefix on a broker.
type fixture struct {
	warehouse clickhouse.Config
	control   postgres.Config
	brokers   []string
	prefix    string

	conn *clickhouse.Conn
	db   *postgres.DB
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{warehouse: store.Warehouse(t), control: store.ControlPlane(t), brokers: testkit.Kafka(t),
		prefix: testkit.Prefix(t)}
	f.conn, f.db = store.OpenWarehouse(t, f.warehouse), store.OpenControlPlane(t, f.control)
	return f
}

// config repeats tries soon.
func (f *fixture) config() reconcile.Config {
	cfg := reconcile.DefaultConfig()
	cfg.Brokers = f.brokers
	cfg.Sinks = []consume.SinkGroup{{Group: f.prefix + "sink", Topic: f.prefix + "visits"}}
	cfg.SetTimes(5*time.Second, 3*time.Second, 50*time.Millisecond, 20)
	return cfg
}

func newReconciler(t *testing.T, cfg reconcile.Config, conn *clickhouse.Conn, db *postgres.DB) *reconcile.Reconciler {
	t.Helper()
	r, err := reconcile.New(cfg, db, conn, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (f *fixture) reconcile(t *testing.T, scope reconcile.Scope) *reconcile.Report {
	t.Helper()
	report, err := newReconciler(t, f.config(), f.conn, f.db).Reconcile(t.Context(), scope, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	if err := f.conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(statement, err)
	}
}

func (f *fixture) number(t *testing.T, question string) int64 {
	t.Helper()
	var n int64
	if err := f.conn.QueryRow(t.Context(), "SELECT toInt64("+question+")").Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// land inserts n answers and visits of two brands into March and April. They feed every rollup of answers and visits.
func (f *fixture) land(t *testing.T, n int) {
	t.Helper()
	f.landAnswers(t, n)
	f.landVisits(t, 0, n)
}

func (f *fixture) landAnswers(t *testing.T, n int) {
	t.Helper()
	f.exec(t, fmt.Sprintf(
		`INSERT INTO answers (organization_id, brand_id, day, id, sign, log_topic, log_partition, log_offset,
			answered_at, platform, prompt_id,
			mention_count, position, citation_count, visibility_score,
			competitors.id, competitors.name, competitors.mention_count, competitors.position,
				competitors.citation_count, competitors.visibility_score, competitors.sentiment,
			citations.url, citations.title, citations.cited, citations.host, citations.domain, citations.listed_type,
				citations.owned, citations.competitor_id,
			cards.position, cards.title, cards.brand, cards.price_amount, cards.price_currency, cards.image_url,
				cards.merchant, cards.merchant_url, cards.merchant_domain, cards.rating, cards.review_count,
					cards.matched_id, cards.role)
		SELECT toUUID('00000000-0000-0000-0000-000000000001'), toUUID('00000000-0000-0000-0000-00000000000' ||
			toString(number %% 2 + 1)), toDate('2026-03-05') + number %% 40,
			generateUUIDv4(number), if(number %% 9 = 8, -1, 1), 'answers', number %% 3, number,
				toDateTime64('2026-03-05 10:00:00', 3) + number, 'openai',
					toUUID('00000000-0000-0000-0000-0000000000aa'),
			number %% 3, number %% 4, number %% 2, number %% 101,
			[toUUID('00000000-0000-0000-0000-0000000000bb')], ['Rival'], [number %% 2], [number %% 3], [0],
				[number %% 50], ['neutral'],
			['https://a.example/' || toString(number %% 5)], ['A'], [true], ['a.example'], ['a.example'], ['forum'],
				[false], [toUUID('00000000-0000-0000-0000-000000000000')],
			[1], ['Thing'], [''], [NULL], ['EUR'], [''], [''], [''], [''], [4.5], [NULL],
				[toUUID('00000000-0000-0000-0000-000000000000')], ['other']
		FROM numbers(%d)`, n))
}

// landVisits inserts visits from an offset on. A reconciliation takes a seventh of the time without answers.
func (f *fixture) landVisits(t *testing.T, first, n int) {
	t.Helper()
	f.exec(t, fmt.Sprintf(
		`INSERT INTO visits (organization_id, brand_id, day, id, log_topic, log_partition, log_offset, at, event,
			platform, host, path, new_session, goal_value)
		SELECT toUUID('00000000-0000-0000-0000-000000000001'), toUUID('00000000-0000-0000-0000-00000000000' ||
			toString(number %% 2 + 1)), toDate('2026-03-05') + number %% 40,
			generateUUIDv7(number), 'visits', number %% 3, number, toDateTime64('2026-03-05 10:00:00', 3) + number,
				'goal', 'chatgpt', 'a.example', '/' || toString(number %% 5), true, number / 7
		FROM numbers(%d, %d)`, first, n))
}

// monthly are the rollups that have months.
var monthly = []string{"answer_daily", "brand_prompt_daily", "citation_daily", "citations", "entity_prompt_daily",
	"shopping_cards", "visit_daily"}

// findings names the month of each finding and what became of it.
func findings(r *reconcile.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprint(f.Table, " ", f.Month, " ", f.State, f.Cause))
	}
	return strings.Join(all, ", ")
}
