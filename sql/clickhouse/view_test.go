package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// neighbour tracks a brand of the same id as organization's, with competitors, prompts and topics of the same ids:
// whatever forgets whose row it is counts it twice.
var (
	neighbour = clickhouse.UUID{9}
	rivals    = []clickhouse.UUID{warehouse.Competitor, {13}, {23}}
	topics    = []clickhouse.UUID{{}, {6}, {7}}
)

// Every view gives what its file gives as it is sent, and its rows of an organization do not change with those of
// another one, not even one whose brand has the same id. A new file is tested by being there.
func TestEveryViewGivesWhatItsFileGivesOfOneOrganizationAlone(t *testing.T) {
	t.Parallel()
	conn, random := warehouse.Complete(t), rand.New(rand.NewPCG(1, 1))
	landFacts(t, conn, random, neighbour, 0)
	landLetters(t, conn, random)
	type question struct {
		view  string
		args  map[string]any
		alone [][]any // what it is answered while the neighbour is
	}
	var questions []question
	least := testkit.Draws(1, 2)
	for _, view := range viewNames(t) {
		rows := 0
		for n := 0; n < least || rows == 0 && n < 100; n++ {
			q := question{view: view, args: arguments(t, random, view, neighbour)}
			q.alone = specialized(t, conn, view, q.args)
			rows += len(q.alone)
			if n < least || len(q.alone) > 0 {
				questions = append(questions, q)
			}
		}
		if rows == 0 {
			t.Errorf("%s has no rows: it proves nothing", view)
		}
	}
	landFacts(t, conn, random, warehouse.Organization, 1000)
	for _, q := range questions {
		named := "SELECT * FROM " + call(t, q.view)
		got := rowsOf(t, conn, named, q.args)
		if !ofOrganization(q.args) { // the pipeline's own, of all organizations
			if want := rowsOf(t, conn, file(t, q.view), q.args); !reflect.DeepEqual(got, want) {
				t.Errorf("%s %v: the view gives\n%v\nand its file\n%v", q.view, q.args, got, want)
			}
			continue
		}
		if !reflect.DeepEqual(got, q.alone) {
			t.Errorf("%s %v: the view gives\n%v\nand its file, before another organization had rows,\n%v", q.view,
				q.args, got, q.alone)
		}
		ofNone := withOrganization(q.args, clickhouse.UUID{99})
		if got := rowsOf(t, conn, named, ofNone); hasFigures(got) {
			t.Errorf("%s %v: an unknown organization has %v", q.view, ofNone, got)
		}
	}
}

// specialized returns the rows of a file as it is sent.
func specialized(t *testing.T, conn *clickhouse.Conn, view string, args map[string]any) [][]any {
	t.Helper()
	args = maps.Clone(args)
	return rowsOf(t, conn, clickhouse.Specialize(file(t, view), args), args)
}

func viewNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("query")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".sql"))
	}
	return names
}

func file(t *testing.T, view string) string {
	t.Helper()
	return readFile(t, "query/"+view+".sql")
}

// call is a view with each of its parameters by its name.
func call(t *testing.T, view string) string {
	t.Helper()
	var arguments []string
	for _, m := range declaredParameter.FindAllStringSubmatch(file(t, view), -1) {
		if argument := m[1] + " = " + m[0]; !slices.Contains(arguments, argument) {
			arguments = append(arguments, argument)
		}
	}
	if len(arguments) == 0 {
		return view
	}
	return view + "(" + strings.Join(arguments, ", ") + ")"
}

// arguments are random ones for the parameters of a view.
func arguments(t *testing.T, random *rand.Rand, view string, of clickhouse.UUID) map[string]any {
	t.Helper()
	from := warehouse.Day.AddDate(0, 0, random.IntN(20)-5)
	var days, ids []string
	var times []uint64
	var offsets []int64
	for offset := range int64(40) {
		offsets = append(offsets, offset)
		a, v, c := fact(offset)
		days = append(days, a.Day.Format(time.DateOnly))
		ids = append(ids, a.ID.String(), v.ID.String(), c.ID.String())
		times = append(times, uint64(made(v.ID).UnixMilli()))
	}
	values := map[string]any{
		"organization_id": of.String(), "brand_id": warehouse.Brand.String(), "date_from": from.Format(time.DateOnly),
		"date_to": from.AddDate(0, 0, random.IntN(30)).Format(time.DateOnly),
		"models":  some(random, "m", "N", "o"), "regions": some(random, "", "de"),
		"topics": some(random, topics[1].String(), topics[2].String()), "branded": some(random, true, false),
		"granularity": one(random, "day", "week", "window"),
		"group_by":    one(random, "", "platform", "model", "region", "topic"),
		"sort_by":     one(random, "visibility", "mentions", "citations", "appearances", "rate", "change"),
		"order":       one(random, "asc", "desc"),
		"metric":      one(random, "score", "mention_rate", "citation_rate"), "consulted": random.IntN(4) == 0,
		"source_filter": one(random, "all", "owned", "competitor", "external"),
		"step":          one(random, "", "crawled", "cited_never_visited"),
		"before_from":   from.AddDate(0, 0, -10).Format(time.DateOnly), "limit": one(random, 1, 5, 100),
		"platforms": some(random, "OpenAI", "chatgpt-shopping"), "roles": some(random, "own", "other"),
		"before": one(random, "", from.Format("2006-01-02 15:04:05.000")), "after_answer": warehouse.Brand.String(),
		"after_position": 1, "after": 2.5, "after_prompt": one(random, "", clickhouse.UUID{32}.String()),
		"after_card": warehouse.Brand.String(),
		"sort":       one(random, "newest", "prompt"), "samples": some(random, int64(1), 2),
		"sentiments": some(random, "positive", "unknown"),
		"after_row":  one(random, "", "0"), "moved": []string{clickhouse.UUID{30}.String()}, "changes": []float64{-7.5},
		"prompts":   some(random, clickhouse.UUID{30}.String(), clickhouse.UUID{31}.String()),
		"mentioned": some(random, true, false), "shown": some(random, true, false),
		"cited":       some(random, true, false),
		"competitors": some(random, warehouse.Competitor.String()), "domains": some(random, "a.example"),
		"urls":  some(random, "https://b.example/x"),
		"pages": some(random, "b.example/x"), "categories": some(random, "owned", "forum"),
		"names": some(random, "Lumen"), "searches": some(random, "best lamp"),
		"organizations": []string{of.String()}, "brands": []string{warehouse.Brand.String()},
		"topic": one(random, "answers", "visits", "crawls"), "partition": 0, "from": 0,
		"below": one(random, 50, 5000),
		"days":  days, "ids": ids, "times": times,
		"after_topic": "", "after_partition": -1, "after_offset": -1, "partitions": some(random, int32(0), 1),
		"offsets":    offsets,
		"reasons":    some(random, "month frozen", "malformed"),
		"from_topic": "", "from_partition": 0, "from_offset": 0, "to_topic": "z", "to_partition": 0, "to_offset": 100,
		"since": "2020-01-01", "after_day": "2020-01-01", "after_id": clickhouse.UUID{}.String(), "most": 1000,
		"reading_revision": 3, "reading_version": 9,
		"organization": of.String(), "brand": warehouse.Brand.String(), "first_day": from.Format(time.DateOnly),
		"last_day": from.AddDate(0, 0, 10).Format(time.DateOnly),
	}
	args := map[string]any{}
	for _, m := range declaredParameter.FindAllStringSubmatch(file(t, view), -1) {
		value, ok := values[m[1]]
		if !ok {
			t.Fatalf("%s asks for %s, of which this test knows no value", view, m[0])
		}
		args[m[1]] = value
	}
	return args
}

func one[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// some is none of them, which lets all pass, or one or two.
func some[T any](random *rand.Rand, from ...T) []T {
	if random.IntN(2) == 0 {
		return []T{}
	}
	return []T{one(random, from...), one(random, from...)}
}

// organizationNames are those under which a view asks for an organization: by the
// first analysts may ask it, by the second the pipeline.
var organizationNames = []string{"organization_id", "organization"}

func ofOrganization(args map[string]any) bool {
	return slices.ContainsFunc(organizationNames, func(name string) bool { return args[name] != nil })
}

func withOrganization(args map[string]any, id clickhouse.UUID) map[string]any {
	args = maps.Clone(args)
	for _, name := range organizationNames {
		if args[name] != nil {
			args[name] = id.String()
		}
	}
	return args
}

// rowsOf are the rows of a question, as the driver has them.
func rowsOf(t *testing.T, conn *clickhouse.Conn, question string, args map[string]any) [][]any {
	t.Helper()
	ctx := driver.Context(t.Context(), driver.WithSettings(driver.Settings{"max_threads": 1, // some have no order
		"optimize_group_by_function_keys": 0}))
	var bound []any
	for name, value := range args {
		bound = append(bound, driver.Named(name, value))
	}
	rows, err := conn.Query(ctx, question, bound...)
	if err != nil {
		t.Fatalf("%s %v: %v", question, args, err)
	}
	defer rows.Close()
	var all [][]any
	for rows.Next() {
		var pointers, row []any
		for _, column := range rows.ColumnTypes() {
			pointers = append(pointers, reflect.New(column.ScanType()).Interface())
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		for i, column := range rows.Columns() {
			row = append(row, column, reflect.ValueOf(pointers[i]).Elem().Interface())
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s %v: %v", question, args, err)
	}
	return all
}

// hasFigures reports whether any figure of rows is not 0.
func hasFigures(rows [][]any) bool {
	for _, row := range rows {
		for _, value := range row {
			switch v := value.(type) {
			case int64:
				if v != 0 {
					return true
				}
			case *float64:
				if v != nil && *v != 0 {
					return true
				}
			}
		}
	}
	return false
}

// fact is the answer, the visit and the crawl of an offset, alike in both organizations but for what landFacts changes.
func fact(offset int64) (clickhouse.AnswerRow, *clickhouse.VisitRow, clickhouse.CrawlRow) {
	at := warehouse.Day.AddDate(0, 0, int(offset%17)).Add(time.Duration(offset) * time.Minute)
	return warehouse.Answer(offset, at), warehouse.Visit(offset, at), warehouse.Crawl(offset, at)
}

// landLetters lands dead letters of no organization.
func landLetters(t *testing.T, conn *clickhouse.Conn, random *rand.Rand) {
	t.Helper()
	var letters []clickhouse.DeadLetter
	var marks []clickhouse.RecordMark
	for offset := range int64(10) {
		answer, _, _ := fact(offset)
		letters = append(letters, clickhouse.DeadLetter{
			LogTopic: "answers", LogOffset: offset, AppendedAt: warehouse.Day,
			Reason: one(random, "month frozen", "malformed"),
			Key:    warehouse.Brand.String(), Value: fmt.Sprintf(`{"id":%q}`, answer.ID),
		})
		marks = append(marks, clickhouse.RecordMark{LogPosition: clickhouse.LogPosition{Topic: "answers",
			Offset: offset}, Mark: clickhouse.MarkSuspect, Landing: "answers", Month: 202603})
	}
	if err := errors.Join(clickhouse.DeadLetters.Insert(t.Context(), conn, "letters", letters),
		clickhouse.MarkRecords(t.Context(), conn, marks)); err != nil {
		t.Fatal(err)
	}
}

// landFacts lands random answers, a third of them read again otherwise, visits, crawls, and what is known of an
// organization's brand.
func landFacts(t *testing.T, conn *clickhouse.Conn, random *rand.Rand, of clickhouse.UUID, first int64) {
	t.Helper()
	var answers []clickhouse.AnswerRow
	var visits []*clickhouse.VisitRow
	var crawls []clickhouse.CrawlRow
	for offset := range int64(200) {
		a, v, c := fact(offset)
		a.LogOffset, v.LogOffset, c.LogOffset = first+offset, first+offset, first+offset
		a.OrganizationID, v.OrganizationID, c.OrganizationID = of, of, of
		c.Path, c.Purpose, c.Verified = one(random, "/", "/a", "/b"), one(random, "training", "search"),
			one(random, nil, new(true), new(false))
		crawls = append(crawls, c)
		a.PromptID, a.TopicID, a.Branded = clickhouse.UUID{30 + byte(random.IntN(7))}, one(random, topics...),
			random.IntN(2) == 0
		a.Platform, a.Model = one(random, "openai", "openai", "gemini", "chatgpt-shopping"), one(random, "m", "n", "")
		a.Region, a.ServedModel = one(random, "", "de", "fr"), one(random, "", "v1", "v2")
		v.Path, v.Country = one(random, "/", "/a", "/b"), one(random, "", "DE", "FR")
		read(random, &a)
		// in each row of the answer
		a.SearchQueries, a.PromptText = some(random, "best lamp", "best Lamp 2026"), one(random, "best lamp", "a lamp")
		answers, visits = append(answers, a), append(visits, v)
		if random.IntN(3) == 0 && !a.GivenUp {
			taken, reread := a, a
			taken.Sign, reread.Revision = -1, 2
			read(random, &reread)
			reread.GivenUp = false
			answers = append(answers, taken, reread)
		}
	}
	token := fmt.Sprint("facts of ", of)
	err := errors.Join(
		clickhouse.Answers.Insert(t.Context(), conn, token, answers),
		clickhouse.Visits.Insert(t.Context(), conn, token, warehouse.Pack(visits...)),
		clickhouse.Crawls.Insert(t.Context(), conn, token, crawls),
		landDimensions(t.Context(), conn, of))
	if err != nil {
		t.Fatal(err)
	}
}

// read gives an answer a random reading.
func read(random *rand.Rand, a *clickhouse.AnswerRow) {
	n := func() uint32 { return uint32(max(0, random.IntN(5)-2)) }
	a.GivenUp = random.IntN(6) == 0
	a.MentionCount, a.CitationCount, a.VisibilityScore = n(), n(), uint8(random.IntN(100))
	a.Position = min(a.MentionCount, 1) * (1 + n())
	a.CompetitorIDs, a.CompetitorNames, a.CompetitorSentiments = rivals, []string{"a", "b", "c"}, []string{"", "", ""}
	a.CompetitorMentionCounts, a.CompetitorPositions, a.CompetitorCitationCounts, a.CompetitorVisibilityScores = nil,
		nil, nil, nil
	for range rivals {
		mentions := n()
		a.CompetitorMentionCounts, a.CompetitorPositions = append(a.CompetitorMentionCounts, mentions),
			append(a.CompetitorPositions, min(mentions, 1)*(1+n()))
		a.CompetitorCitationCounts, a.CompetitorVisibilityScores = append(a.CompetitorCitationCounts, n()),
			append(a.CompetitorVisibilityScores, uint16(random.IntN(60)))
	}
	a.CardMatchedIDs = []clickhouse.UUID{one(random, append(rivals, warehouse.Brand)...)}
	a.CardMerchantDomains = []string{one(random, "", "a.example", "shop.b.example")}
	a.CitationURLs, a.CitationTitles = []string{one(random, "https://a.example/", "https://b.example/x")},
		[]string{one(random, "", "A")}
	a.CitationDomains, a.CitationHosts = []string{a.CitationURLs[0][8:17]}, []string{a.CitationURLs[0][8:17]}
	a.CitationListedTypes, a.CitationOwned = []string{one(random, "forum", "editorial")}, []bool{random.IntN(2) == 0}
	if a.GivenUp {
		a.MentionCount, a.Position, a.CitationCount, a.VisibilityScore = 0, 0, 0, 0
		a.CompetitorMentionCounts, a.CompetitorPositions = make([]uint32, len(rivals)), make([]uint32, len(rivals))
		a.CompetitorCitationCounts, a.CompetitorVisibilityScores = make([]uint32, len(rivals)),
			make([]uint16, len(rivals))
		a.CitationURLs, a.CitationTitles, a.CitationDomains, a.CitationHosts, a.CitationListedTypes,
			a.CitationOwned = nil, nil, nil, nil, nil, nil
		a.CitationCited, a.CitationCompetitorIDs = nil, nil
	}
}

// landDimensions makes the brand's things known under names of the organization's own; each lacks a competitor of the
// other.
func landDimensions(ctx context.Context, conn *clickhouse.Conn, of clickhouse.UUID) error {
	name := func(what string, n int) string { return fmt.Sprintf("%s %d of %s", what, n, of) }
	var competitors []clickhouse.DimensionCompetitor
	for i, id := range rivals {
		competitors = append(competitors, clickhouse.DimensionCompetitor{
			OrganizationID: of, BrandID: warehouse.Brand, ID: id, Name: name("rival", i), Version: 1,
			Deleted: i == 0 && of == warehouse.Organization || i == 1 && of == neighbour,
		})
	}
	var prompts []clickhouse.DimensionPrompt
	for i := range 7 {
		prompts = append(prompts, clickhouse.DimensionPrompt{
			OrganizationID: of, BrandID: warehouse.Brand, ID: clickhouse.UUID{30 + byte(i)}, TopicID: topics[i%3],
			Text: name("prompt", i), Version: 1,
		})
	}
	var named []clickhouse.DimensionTopic
	for i, id := range topics[1:] {
		named = append(named, clickhouse.DimensionTopic{OrganizationID: of, BrandID: warehouse.Brand, ID: id,
			Name: name("topic", i), Version: 1})
	}
	return errors.Join(
		clickhouse.DimensionCompetitors.Insert(ctx, conn, "", competitors),
		clickhouse.DimensionPrompts.Insert(ctx, conn, "", prompts),
		clickhouse.DimensionTopics.Insert(ctx, conn, "", named))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var declaredParameter = regexp.MustCompile(`\{(\w+):([^}]+)\}`)
