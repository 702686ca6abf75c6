package clickhouse_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// exported is one line of an export of answers, the fields that are tested.
type exported struct {
	Platform   string    `json:"platform"`
	AnsweredAt time.Time `json:"answered_at"`
	Text       string    `json:"text"`
	Topic      string    `json:"topic"`
	Sample     int64     `json:"sample"`
	Citations  []struct {
		URL, Title string
		Cited      bool
	} `json:"citations"`
	Products []struct {
		Title       string  `json:"title"`
		Position    *int64  `json:"position"`
		PriceAmount *string `json:"price_amount"`
		Merchant    string  `json:"merchant"`
	} `json:"products"`
	GivenUp      string `json:"given_up"`
	ID           string `json:"id"`
	Revision     int64  `json:"revision"`
	MentionCount uint32 `json:"mention_count"`
	LogOffset    int64  `json:"log_offset"`
	Competitors  []struct {
		ID           string `json:"id"`
		MentionCount uint32 `json:"mention_count"`
	} `json:"competitors"`
}

// landExported lands, over three months, answers of which every second was read again twice, a given-up run, visits and
// crawls; and each of them for another organization, and for another brand of the same one.
func landExported(t *testing.T, conn *clickhouse.Conn) {
	t.Helper()
	if err := clickhouse.DimensionTopics.Insert(t.Context(), conn, "",
		[]clickhouse.DimensionTopic{{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand, ID: topics[1],
			Name: "anvils", Version: 1}}); err != nil {
		t.Fatal(err)
	}
	for batch := range 3 { // the answers and each reading of them in inserts of their own
		var rows []clickhouse.AnswerRow
		var visits []*clickhouse.VisitRow
		var crawls []clickhouse.CrawlRow
		for n := range int64(90) {
			a := warehouse.Answer(n, warehouse.Day.AddDate(0, 0, int(n)))
			a.TopicID, a.Revision, a.MentionCount, a.Text = topics[1], 1, 1, fmt.Sprintf("text %d\nof \"%d\" 語", n, n)
			a.RawCitationURLs, a.RawCitationTitles, a.RawCitationCited = []string{"https://a.example/?b=1"},
				[]string{"A"}, []bool{true}
			a.RawProducts = `[{"title":"One","price_amount":"12.50","merchant":"Shop"}]`
			if n == 7 {
				a.Text, a.RawProducts, a.GivenUp, a.GivenUpClass, a.RawCitationURLs, a.RawCitationTitles,
					a.RawCitationCited = "", "", true, "timeout", nil, nil, nil
			}
			switch {
			case batch == 0:
				for _, owner := range [][2]clickhouse.UUID{
					{warehouse.Organization, warehouse.Brand}, {neighbour, warehouse.Brand},
					{warehouse.Organization, {9}},
				} {
					v, c := warehouse.Visit(n, warehouse.Day.AddDate(0, 0, int(n))),
						warehouse.Crawl(n, warehouse.Day.AddDate(0, 0, int(n)))
					a.OrganizationID, a.BrandID = owner[0], owner[1]
					v.OrganizationID, v.BrandID = owner[0], owner[1]
					c.OrganizationID, c.BrandID = owner[0], owner[1]
					rows, visits, crawls = append(rows, a), append(visits, v), append(crawls, c)
				}
			case n%2 == 0:
				a.Text, a.RawProducts, a.RawCitationURLs, a.RawCitationTitles, a.RawCitationCited = "", "", nil, nil,
					nil
				a.LogOffset = 1000*int64(batch) + n
				taken := a
				taken.Sign, taken.Revision, taken.MentionCount = -1, int64(batch), uint32(batch)
				a.Revision, a.MentionCount = int64(batch)+1, uint32(batch)+1
				rows = append(rows, taken, a)
			}
		}
		token := fmt.Sprint("export ", batch)
		if err := errors.Join(
			clickhouse.Answers.Insert(t.Context(), conn, token, rows),
			clickhouse.Visits.Insert(t.Context(), conn, token, warehouse.Pack(visits...)),
			clickhouse.Crawls.Insert(t.Context(), conn, token, crawls)); err != nil {
			t.Fatal(err)
		}
	}
}

func export(t *testing.T, c clickhouse.Config, what string, as clickhouse.Format, from, to time.Time) string {
	t.Helper()
	var out bytes.Buffer
	filter := clickhouse.ExportFilter{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand,
		DateFrom: clickhouse.DayOf(from), DateTo: clickhouse.DayOf(to)}
	if err := clickhouse.Export(t.Context(), c, what, filter, as, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every answer is exported once, with the text of its first row and the reading of its last.
func TestAnExportHasEachAnswerAsItStands(t *testing.T) {
	t.Parallel()
	c := store.Warehouse(t)
	landExported(t, store.OpenWarehouse(t, c))
	always, never := warehouse.Day.AddDate(-1, 0, 0), warehouse.Day.AddDate(1, 0, 0)
	var last time.Time
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimSuffix(export(t, c, "answers", clickhouse.NDJSON, always, never), "\n"), "\n")
	for _, line := range lines {
		var e exported
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err, line)
		}
		n := int64(e.AnsweredAt.Sub(warehouse.Day).Hours() / 24)
		if seen[e.ID] || e.AnsweredAt.Before(last) {
			t.Errorf("answer %d comes again, or out of order", n)
		}
		seen[e.ID], last = true, e.AnsweredAt
		revision := int64(1)
		if n%2 == 0 {
			revision = 3
		}
		if e.Revision != revision || e.MentionCount != uint32(revision) || e.LogOffset != n || e.Topic != "anvils" ||
			len(e.Competitors) == 0 {
			t.Errorf("answer %d is exported as %s", n, line)
		}
		if n == 7 {
			if e.GivenUp != "timeout" || e.Text != "" {
				t.Errorf("the run that was given up is exported as %s", line)
			}
			continue
		}
		if e.Text != fmt.Sprintf("text %d\nof \"%d\" 語", n, n) || len(e.Citations) != 1 ||
			e.Citations[0].URL != "https://a.example/?b=1" || !e.Citations[0].Cited ||
			len(e.Products) != 1 || e.Products[0].Position != nil || *e.Products[0].PriceAmount != "12.50" ||
			e.Products[0].Merchant != "Shop" || e.GivenUp != "" {
			t.Errorf("answer %d is exported as %s", n, line)
		}
	}
	if len(lines) != 90 {
		t.Errorf("%d lines, want 90", len(lines))
	}
	if n := strings.Count(export(t, c, "answers", clickhouse.NDJSON, warehouse.Day.AddDate(0, 0, 20),
		warehouse.Day.AddDate(0, 0, 49)), "\n"); n != 30 {
		t.Errorf("%d lines of 30 days", n)
	}
	if n := strings.Count(export(t, c, "visits", clickhouse.NDJSON, always, never), "\n"); n != 90 {
		t.Errorf("%d lines of 90 visits", n)
	}
	crawls := export(t, c, "crawls", clickhouse.NDJSON, always, never)
	if n := strings.Count(crawls, "\n"); n != 90 ||
		!strings.Contains(crawls, `"status":200,"bytes":1000,"verified":true,`) {
		t.Errorf("%d lines of 90 crawls: %.300s", n, crawls)
	}
	if text := export(t, c, "answers", clickhouse.NDJSON, always, always); text != "" {
		t.Errorf("of a day without answers: %q", text)
	}
	for _, what := range []string{"answers", "visits", "crawls"} {
		file := export(t, c, what, clickhouse.Parquet, always, never)
		if !strings.HasPrefix(file, "PAR1") || !strings.HasSuffix(file, "PAR1") {
			t.Errorf("%s: %d bytes are no Parquet file", what, len(file))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	filter := clickhouse.ExportFilter{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand,
		DateFrom: clickhouse.DayOf(always), DateTo: clickhouse.DayOf(never)}
	if err := clickhouse.Export(ctx, c, "answers", filter, clickhouse.NDJSON, halfway{stop}); err == nil {
		t.Error("an export that ends early is no error")
	}
}

// halfway ends an export after its first bytes.
type halfway struct{ stop context.CancelFunc }

func (h halfway) Write(p []byte) (int, error) { h.stop(); return len(p), nil }

// An export of a cluster has the rows of every shard.
func TestAnExportIsOfEveryShard(t *testing.T) {
	t.Parallel()
	conn, c := warehouse.Sharded(t)
	for n := range conn.Shards() {
		a, v, c := warehouse.Answer(int64(n), warehouse.Day), warehouse.Visit(int64(n), warehouse.Day),
			warehouse.Crawl(int64(n), warehouse.Day)
		err := errors.Join(
			clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, n), "export", []clickhouse.AnswerRow{a}),
			clickhouse.Visits.Insert(t.Context(), warehouse.Shard(t, conn, n), "export", warehouse.Pack(v)),
			clickhouse.Crawls.Insert(t.Context(), warehouse.Shard(t, conn, n), "export", []clickhouse.CrawlRow{c}))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"answers", "visits", "crawls"} {
		if n := strings.Count(export(t, c, what, clickhouse.NDJSON, warehouse.Day, warehouse.Day),
			"\n"); n != conn.Shards() {
			t.Errorf("%s: %d lines of %d shards", what, n, conn.Shards())
		}
		if file := export(t, c, what, clickhouse.Parquet, warehouse.Day, warehouse.Day); !strings.HasSuffix(file,
			"PAR1") {
			t.Errorf("%s: %d bytes are no Parquet file", what, len(file))
		}
	}
}
