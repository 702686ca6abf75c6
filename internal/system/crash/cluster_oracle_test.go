//go:build all

package crash

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A logIndex has each fact of the log once, read beside the product, and how far the product has committed.
type logIndex struct {
	mu        sync.Mutex
	ids       map[uuid.UUID]bool
	places    map[placeOf][]consume.Position // of the first record of each fact; Committed is its offset
	committed map[string][]consume.Position  // by topic
	unread    map[string][]consume.Span      // by topic, a span of each partition
	answers   map[uuid.UUID][]event.Answer   // by brand
	visits    []event.Visit
}

// placeOf is a topic and a brand.
type placeOf struct {
	topic string
	brand uuid.UUID
}

// followLog reads the log until the test ends.
func followLog(t *testing.T, c *clusterTest) *logIndex {
	t.Helper()
	l := &logIndex{
		ids: map[uuid.UUID]bool{}, places: map[placeOf][]consume.Position{},
		committed: map[string][]consume.Position{}, unread: map[string][]consume.Span{},
		answers: map[uuid.UUID][]event.Answer{},
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var readers sync.WaitGroup
	repeated := func(read func()) {
		readers.Go(func() {
			for pace := time.Tick(300 * time.Millisecond); ctx.Err() == nil; <-pace {
				read()
			}
		})
	}
	for _, topic := range event.Topics {
		spans := make([]consume.Span, run.Partitions)
		l.unread[topic.Name] = spans
		for i := range spans {
			spans[i] = consume.Span{Partition: int32(i), End: math.MaxInt64}
			repeated(func() { // a broker that is away ends it; it goes on where it was
				_ = consume.Read(ctx, producer.Connection{Brokers: c.brokers}, topic.Name, spans[i], l.add)
			})
		}
		repeated(func() {
			if all, err := c.positions(ctx, topic.Group, topic.Name); err == nil {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.committed[topic.Name] = all
			}
		})
	}
	t.Cleanup(func() { cancel(); readers.Wait() })
	return l
}

func (l *logIndex) add(r consume.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread[r.Topic][r.Partition].First = r.Offset + 1
	var a event.Answer
	var v event.Visit
	var crawl event.Crawl
	var err error
	var id, brand uuid.UUID
	switch r.Topic {
	case event.TopicAnswers:
		err = event.DecodeAnswer(r.Value, &a)
		id, brand = a.ID, a.Brand.ID
	case event.TopicVisits:
		err = event.DecodeVisit(r.Value, &v)
		id, brand = v.ID, v.BrandID
	default:
		err = event.DecodeCrawl(r.Value, &crawl)
		id, brand = crawl.ID, crawl.BrandID
	}
	if err != nil || l.ids[id] {
		return err
	}
	l.ids[id] = true
	at := placeOf{r.Topic, brand}
	l.places[at] = append(l.places[at], consume.Position{Partition: r.Partition, Committed: r.Offset})
	switch r.Topic {
	case event.TopicAnswers:
		l.answers[brand] = append(l.answers[brand], a)
	case event.TopicVisits:
		l.visits = append(l.visits, v)
	}
	return nil
}

// hasRead reports whether everything before the ends of positions is in the index.
func (l *logIndex) hasRead(topic string, positions []consume.Position) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range positions {
		if l.unread[topic][i].First < p.End {
			return false
		}
	}
	return true
}

// floor is how many facts of a brand are committed: no figure that is asked for from now on may be smaller.
func (l *logIndex) floor(topic string, brand uuid.UUID) (n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	committed := l.committed[topic]
	for _, at := range l.places[placeOf{topic, brand}] {
		if int(at.Partition) < len(committed) && at.Committed < committed[at.Partition].Committed {
			n++
		}
	}
	return n
}

// polls count what /api/v1 answers meanwhile.
type polls struct {
	answers, failures atomic.Int64
	smaller           atomic.Int64 // figures smaller than an earlier one, yet not than what was committed
	slowest, silence  atomic.Int64 // time.Duration
}

func (p *polls) String() string {
	slowest := time.Duration(p.slowest.Load()).Round(time.Millisecond)
	return fmt.Sprintf("%d polls answered within %s, %d failed, %d smaller than the one before",
		p.answers.Load(), slowest, p.failures.Load(), p.smaller.Load())
}

// slowestAnswer bounds a question, also while something is away.
const slowestAnswer = 10 * time.Second

var figureClient = &http.Client{
	// a connection each, to be balanced
	Timeout: 2 * slowestAnswer, Transport: &http.Transport{DisableKeepAlives: true},
}

// figure asks for the count in a body: that of answers, visits or crawls.
func (c *clusterTest) figure(ctx context.Context, address, path string) (uint64, error) {
	body, err := c.get(ctx, address, path)
	var got struct {
		Totals   struct{ ResultCount uint64 }
		Visits   uint64 `json:"total_visits"`
		Requests uint64 `json:"total_requests"`
	}
	err = cmp.Or(err, json.Unmarshal(body, &got))
	return got.Totals.ResultCount + got.Visits + got.Requests, err
}

func (c *clusterTest) get(ctx context.Context, address, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/v1/"+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Installation.Key)
	response, err := figureClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return body, err
}

// A question is one for a figure, and what was answered last.
type question struct {
	path, topic string
	brand       uuid.UUID
	last        uint64
}

// questions are those about brands that nobody edits.
func (c *clusterTest) questions() (all []*question) {
	add := func(path, topic, brand string) {
		all = append(all, &question{path: path, topic: topic, brand: uuid.Must(uuid.FromString(brand))})
	}
	for _, brand := range c.brands[:len(c.brands)-1] {
		add("visibility-summary"+run.Window(brand), event.TopicAnswers, brand)
		add("ai-traffic"+run.Window(brand), event.TopicVisits, brand)
		add("ai-crawlers"+run.Window(brand), event.TopicCrawls, brand)
	}
	add("ai-traffic"+today(c.site), event.TopicVisits, c.site)
	return all
}

// poll asks the questions in turn until end.
func (c *clusterTest) poll(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var polling sync.WaitGroup
	polling.Go(func() {
		answered, failing := time.Now(), false
		for questions, n := c.questions(), 0; ctx.Err() == nil; n++ {
			err := c.ask(ctx, t, questions[n%len(questions)])
			if err == nil {
				answered = time.Now()
			} else if !failing && ctx.Err() == nil {
				t.Logf("no answer: %.300v", err)
			}
			failing = err != nil
			c.polls.silence.Store(max(c.polls.silence.Load(), int64(time.Since(answered))))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	stop := sync.OnceFunc(func() { cancel(); polling.Wait() })
	t.Cleanup(stop)
	return stop
}

// ask asks a question, whose figure may not be smaller than what was committed before.
func (c *clusterTest) ask(ctx context.Context, t *testing.T, q *question) error {
	floor, begin, address := c.log.floor(q.topic, q.brand), time.Now(), c.service("queryapi").URL
	figure, err := c.figure(ctx, address, q.path)
	if err != nil {
		c.polls.failures.Add(1)
		return err
	}
	took := time.Since(begin)
	if took > slowestAnswer {
		t.Errorf("%s was answered after %s", q.path, took)
	}
	c.polls.answers.Add(1)
	c.polls.slowest.Store(max(c.polls.slowest.Load(), int64(took)))
	if figure < floor {
		t.Errorf("%s counts %d, and %d were committed before", q.path, figure, floor)
	} else if figure < q.last {
		c.polls.smaller.Add(1)
		t.Logf("%s counts %d after %d, and %d were committed before", q.path, figure, q.last, floor)
	}
	q.last = figure
	return nil
}

// today asks for three days, since midnight may come.
func today(brand string) string {
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	return fmt.Sprintf("?brand_id=%s&date_from=%s&date_to=%s", brand, day(-1), day(1))
}

// judge compares what was accepted, the log, every table of every replica and /api/v1.
func (c *clusterTest) judge(t *testing.T) {
	t.Helper()
	c.settleNames(t)
	if err := run.InPostgres(t, c.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DELETE FROM public.brands WHERE slug LIKE 'doomed-%'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	c.taken(t)
	for _, topic := range event.Topics {
		wait.For(t, "the log to be read", func() bool {
			at, err := c.positions(t.Context(), topic.Group, topic.Name)
			return err == nil && c.log.hasRead(topic.Name, at)
		})
	}
	for _, n := range c.Nodes("queryapi") {
		c.counted(t, &run.Server{URL: "http://" + n.HostPort()})
	}
	warehouse := c.Installation.Warehouse
	sessions := sessionsIn(t, warehouse)
	delete(sessions, "") // of visits that were appended
	c.beacons.judge(t, sessions)
	nothingIsLeft(t, warehouse, c.doomed)
	c.replicasAreEqual(t)
	for _, brand := range append(c.brands, c.site, c.tracked.ID.String()) {
		c.naiveSaysTheSame(t, uuid.Must(uuid.FromString(brand)))
	}
	var runs int64
	var ids, dead uint64
	const ofTracked = "SELECT sum(sign), uniqExact(id) FROM answers WHERE brand_id = ?"
	if err := errors.Join(
		warehouse.QueryRow(t.Context(), ofTracked, c.tracked.ID.String()).Scan(&runs, &ids),
		warehouse.QueryRow(t.Context(), "SELECT count() FROM deadletters").Scan(&dead)); err != nil {
		t.Fatal(err)
	}
	if runs != c.runs || ids != uint64(c.runs) || dead > 0 {
		t.Errorf("%d answers of %d tracked runs, want %d; %d dead letters", runs, ids, c.runs, dead)
	}
	if said := run.Must(t, c.env, "reconcile"); strings.Contains(said, "\n") ||
		!strings.Contains(said, "repaired 0, left 0") {
		t.Errorf("reconcile found:\n%s", said)
	}
	for _, n := range c.Nodes("pipeline") {
		log, err := os.ReadFile(n.Log())
		if err != nil || bytes.Contains(log, []byte("partition stopped")) {
			t.Errorf("%s waits for a hand, %v", n.Name, err)
		}
	}
}

// replicasAreEqual waits until the replicas of each shard have the same parts.
func (c *clusterTest) replicasAreEqual(t *testing.T) {
	t.Helper()
	const question = `
		SELECT toString(arraySort(groupArray((table, name, rows, hash_of_uncompressed_files))))
		FROM system.parts
		WHERE active AND database = currentDatabase()
			AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase()
				AND engine LIKE 'Replicated%')`
	for shard := range strings.SplitSeq(c.ShardDSNs(), ";") {
		a, b, _ := strings.Cut(shard, ",")
		parts := func(dsn string) func() string {
			cfg := clickhouse.DefaultConfig()
			cfg.DSN = dsn
			server := store.OpenWarehouse(t, cfg)
			return func() (text string) {
				if err := server.QueryRow(t.Context(), question).Scan(&text); err != nil {
					t.Fatal(err)
				}
				return text
			}
		}
		ofA, ofB := parts(a), parts(b)
		wait.Until(t, func() string {
			if one, other := ofA(), ofB(); one != other || one == "[]" {
				return fmt.Sprintf("replicas differ:\n%s\n%s", one, other)
			}
			return ""
		})
	}
}

// naiveSaysTheSame compares what both queryapis say of a brand with the figures of the plainest computation.
func (c *clusterTest) naiveSaysTheSame(t *testing.T, brand uuid.UUID) {
	t.Helper()
	snapshot, err := answer.ReadSnapshot(t.Context(), c.DB, brand)
	if err != nil {
		t.Fatal(err)
	}
	slots, err := c.DB.CompetitorSlots(t.Context(), snapshot.OrganizationID, brand)
	if err != nil {
		t.Fatal(err)
	}
	who, rivals := naive.Live{ID: brand, Name: snapshot.Brand.Name}, []naive.Live(nil)
	for _, r := range snapshot.Competitors {
		rivals = append(rivals, naive.Live{ID: r.ID, Name: r.Name, Slot: slots[r.ID]})
	}
	sentiments := c.sentiments(t, brand)
	var readings []naive.Reading
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	for _, a := range c.log.answers[brand] {
		a.Brand, a.Competitors = snapshot.Brand, snapshot.Competitors
		readings = append(readings, naive.Read(a, sentiments[a.ID]))
	}
	query := run.Window(brand.String())
	if !slices.Contains(c.brands, brand.String()) {
		query = today(brand.String())
	}
	values, err := url.ParseQuery(query[1:])
	if err != nil {
		t.Fatal(err)
	}
	f := naive.Filter{From: values.Get("date_from"), To: values.Get("date_to")}
	for path, want := range map[string]naive.Body{
		"visibility-summary":    naive.WithChange(naive.Summary(readings, f, who, rivals), readings, f, who),
		"visibility-trend":      naive.WithChange(naive.Trend(readings, f, "day", rivals), readings, f, who),
		"competitor-comparison": naive.Comparison(readings, f, who, rivals),
		"ai-traffic":            naive.Traffic(c.log.visits, snapshot.OrganizationID, brand, f, "", false),
	} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.Nodes("queryapi") {
			body, err := c.get(t.Context(), "http://"+n.HostPort(), path+query)
			if err != nil {
				t.Fatal(err)
			}
			var got, wanted any
			err = errors.Join(json.Unmarshal(body, &got), json.Unmarshal(text, &wanted))
			if err != nil || !reflect.DeepEqual(got, wanted) {
				t.Errorf("%s says of %s\n%s\nthe naive computation\n%s", path, who.Name, body, text)
			}
		}
	}
}

// sentiments are those of each answer of a brand, which only the product computes.
func (c *clusterTest) sentiments(t *testing.T, brand uuid.UUID) map[uuid.UUID]string {
	t.Helper()
	var rows []struct {
		ID        string `ch:"text_id"`
		Sentiment string `ch:"tone"`
	}
	const question = `SELECT toString(id) AS text_id, toString(sentiment) AS tone
		FROM answers WHERE brand_id = ? AND sign = 1 ORDER BY revision, extract_version`
	if err := c.Installation.Warehouse.Select(t.Context(), &rows, question, brand.String()); err != nil {
		t.Fatal(err)
	}
	sentiments := map[uuid.UUID]string{}
	for _, r := range rows { // the newest reading comes last
		sentiments[uuid.FromStringOrNil(r.ID)] = r.Sentiment
	}
	return sentiments
}
