package metrics

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/pipeline/results"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// june is when prompt_results are written: some answers are old by then.
var june = time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC)

// A harness appends a random history to a log, for pipelines that are killed and upgraded while people edit.
type harness struct {
	*history
	brokers []string
	prefix  string // of topics and groups
	log     *producer.Producer

	asked   []*event.Answer           // and not yet chosen: with the names of when they were asked
	first   []*event.Answer           // as they were chosen first
	seen    map[[2]uuid.UUID]struct{} // those of first, by brand and id
	version int                       // of the release that runs
}

func newHarness(t *testing.T, s *stage, random *rand.Rand) *harness {
	t.Helper()
	l := &harness{
		history: newHistory(t, s, random), brokers: testkit.Kafka(t), prefix: testkit.Prefix(t),
		seen: map[[2]uuid.UUID]struct{}{}, version: thisRelease,
	}
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = l.brokers, l.prefix, 2
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.Prefix = l.brokers, l.prefix
	var err error
	if l.log, err = producer.New(cfg, logTo(t), prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	runUntilEnd(t, l.log.Run)
	return l
}

// ask lets platforms be asked: their answers carry the names of now, whenever they are chosen.
func (l *harness) ask(t *testing.T) {
	t.Helper()
	facts := make([]answerFact, 5+l.random.IntN(40))
	for i := range facts {
		f := randomFact(l.random)
		f.Brand = pick(l.random, "lumen", "lumen", "second", "lumen-of-rival")
		if f.GivenUp == "" && !f.NotShown {
			f.Text += ". " + pick(l.random, l.rivals[f.Brand]...)
			if l.random.IntN(4) == 0 {
				f.Products = []event.Product{{Title: pick(l.random, "Glow One", "Lumen Two"),
					Brand: pick(l.random, "", "Beam", "Nova"), PriceAmount: "12.50", PriceCurrency: "EUR"}}
			}
		}
		facts[i] = f
	}
	l.asked = append(l.asked, l.records(t, facts...)...)
}

// appendSome appends some of what was asked, in no order, and some of what was chosen before: with other words, or with
// the names of now. What is chosen first counts.
func (l *harness) appendSome(t *testing.T, most int) {
	t.Helper()
	l.random.Shuffle(len(l.asked), func(i, j int) { l.asked[i], l.asked[j] = l.asked[j], l.asked[i] })
	n := min(most, len(l.asked))
	chosen := slices.Clone(l.asked[:n])
	l.asked = l.asked[n:]
	for range min(len(l.first), n/4) {
		again := *pick(l.random, l.first...)
		if again.GivenUp == nil && again.Finish != event.FinishNotShown && l.random.IntN(2) == 0 {
			again.Text, again.Brand.Revision = "Glow, Beam and Lumen", again.Brand.Revision+int64(l.random.IntN(3))
		}
		chosen = append(chosen, &again)
	}
	l.random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	records := make([]producer.Record, len(chosen))
	for i, a := range chosen {
		value, err := event.EncodeAnswer(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value}
		key := [2]uuid.UUID{a.Brand.ID, a.ID}
		if _, seen := l.seen[key]; !seen {
			l.seen[key] = struct{}{}
			l.first = append(l.first, a)
		}
	}
	if n, err := l.log.AppendAll(t.Context(), event.TopicAnswers, records); err != nil || n != len(records) {
		t.Fatalf("appended %d of %d: %v", n, len(records), err)
	}
}

// editAliases edits aliases and domains: answers are read by them, and no response shows them.
func (l *harness) editAliases(t *testing.T) {
	t.Helper()
	slug := pick(l.random, l.brands...)
	change := pick(l.random,
		"UPDATE public.brands SET aliases = '{Beam,wonderful}' WHERE id = $1",
		"UPDATE public.brands SET aliases = '{}' WHERE id = $1",
		"INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'other.example') ON CONFLICT DO NOTHING",
		"DELETE FROM public.brand_domains WHERE brand_id = $1",
		"INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'lumen.example') ON CONFLICT DO NOTHING",
		"UPDATE public.competitors SET aliases = '{Dusk,Zeta}' WHERE id = (SELECT min(id::text)::uuid FROM "+
			"public.competitors WHERE brand_id = $1)",
		"UPDATE public.competitors SET domains = '{other.example}' WHERE id = (SELECT max(id::text)::uuid FROM "+
			"public.competitors WHERE brand_id = $1)",
	)
	if _, err := l.db.Exec(t.Context(), change, l.id(slug)); err != nil {
		t.Fatal(change, err)
	}
	l.changed++
}

// A pipeline is one process of a release: a sink, a writer of results and a rereader.
type pipeline struct {
	rereader *reread.Rereader
	results  *results.Results
	left     *atomic.Int32 // batches of the sink before it is killed
	ends     []func()
}

// start runs a pipeline of the present release, which takes batches of so many records at most. Its sink and its writer
// of results are killed at the batch of that number.
func (l *harness) start(t *testing.T, records, sunk, written int) *pipeline {
	t.Helper()
	p := &pipeline{results: l.writer(t, l.version), left: counting(sunk)}
	answers := consume.Target[sink.Answer](release[sink.Answer]{
		sink.NewAnswers(l.warehouse, prometheus.NewRegistry(), logTo(t)), l.version,
	})
	cfg := reread.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = l.brokers, l.prefix+"sink", l.prefix+event.TopicAnswers
	cfg.ExtractVersion, cfg.PageSize = l.version, records
	cfg.PollInterval, cfg.RetryPause, cfg.FollowUp = 10*time.Millisecond, 10*time.Millisecond, time.Hour
	var err error
	if p.rereader, err = reread.New(cfg, l.db, l.warehouse, l.log, prometheus.NewRegistry(), logTo(t)); err != nil {
		t.Fatal(err)
	}
	p.ends = []func(){
		inBackground(t, p.rereader.Run),
		inBackground(t, reading(t, l, "sink", records,
			mortal[sink.Answer]{answers, p.left, l.random.IntN(2) == 0}).Run),
		inBackground(t, reading(t, l, "results", records,
			mortal[results.Item]{p.results, counting(written), l.random.IntN(2) == 0}).Run),
	}
	return p
}

func counting(from int) *atomic.Int32 {
	n := new(atomic.Int32)
	n.Store(int32(from))
	return n
}

// forever is more batches than any life has.
const forever = 1 << 30

func (l *harness) writer(t *testing.T, version int) *results.Results {
	t.Helper()
	return results.New(version, l.db, l.warehouse, func() time.Time { return june }, prometheus.NewRegistry(), logTo(t))
}

// reading is a consumer of the answers.
func reading[T any](t *testing.T, l *harness, group string, records int,
	target consume.Target[T]) *consume.Consumer[T] {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = l.brokers, l.prefix+group, l.prefix+event.TopicAnswers
	cfg.Limits = consume.Limits{Records: records, Bytes: 1 << 20, Linger: 10 * time.Millisecond}
	if group == "sink" {
		cfg.Lock = consume.LockWith(l.db.LockSinksShared)
	}
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), logTo(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stop ends a pipeline as a signal would: what is planned has a moment to land.
func (p *pipeline) stop() {
	for _, end := range p.ends {
		end()
	}
}

func inBackground(t *testing.T, run func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// makeRereadsDue makes every reread due that waits for further edits.
func (l *harness) makeRereadsDue(t *testing.T) {
	t.Helper()
	if _, err := l.db.Exec(t.Context(),
		"UPDATE private.rereads SET due_at = clock_timestamp() WHERE due_at > clock_timestamp()"); err != nil {
		t.Fatal(err)
	}
}

// committedAll reports whether a group has committed the whole log.
func (l *harness) committedAll(t *testing.T, group string) bool {
	t.Helper()
	client, topic := &kafka.Client{Addr: kafka.TCP(l.brokers...)}, l.prefix+event.TopicAnswers
	ends, err := client.ListOffsets(t.Context(),
		&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(0),
			kafka.LastOffsetOf(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	committed, err := client.OffsetFetch(t.Context(),
		&kafka.OffsetFetchRequest{GroupID: l.prefix + group, Topics: map[string][]int{topic: {0, 1}}})
	if err != nil || committed.Error != nil {
		return false // the group's coordinator is not there yet
	}
	at := map[int]int64{}
	for _, p := range committed.Topics[topic] {
		if p.Metadata == "" {
			at[p.Partition] = max(p.CommittedOffset, 0)
		}
	}
	for _, p := range ends.Topics[topic] {
		if p.LastOffset > 0 && at[p.Partition] != p.LastOffset {
			return false
		}
	}
	return true
}

// rereads is how many brands are due to be read again.
func (l *harness) rereads(t *testing.T) (due int) {
	t.Helper()
	if err := l.db.QueryRow(t.Context(),
		"SELECT count(*) FROM private.rereads WHERE due_at IS NOT NULL AND brand_id = ANY ($1::uuid[])",
		l.brandIDs()).Scan(&due); err != nil {
		t.Fatal(err)
	}
	return due
}

func (l *harness) brandIDs() []string {
	ids := make([]string, len(l.brands))
	for i, slug := range l.brands {
		ids[i] = l.ids[slug]
	}
	return ids
}

// awaitIdle returns once all records are inserted and no current row has an outdated reading.
func (l *harness) awaitIdle(t *testing.T) {
	t.Helper()
	p := l.start(t, 1000, forever, forever)
	defer p.stop()
	wait.For(t, "the sink to commit the whole log", func() bool { return l.committedAll(t, "sink") })
	if err := p.rereader.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "all rereads to end", func() bool { l.makeRereadsDue(t); return l.rereads(t) == 0 })
	wait.For(t, "all results to be written", func() bool {
		return l.committedAll(t, "results") && l.committedAll(t, "sink")
	})
	for _, task := range []func(context.Context) error{p.results.Renew, p.results.Prune} {
		if err := task(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// describe logs what happened.
func (l *harness) describe(t *testing.T) {
	t.Helper()
	var corrections uint64
	if err := l.warehouse.QueryRow(t.Context(),
		"SELECT countIf(sign = -1) FROM answers WHERE toString(brand_id) IN ?", l.brandIDs()).
		Scan(&corrections); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d answers, %d edits, %d corrections", len(l.first), l.changed, corrections)
}
