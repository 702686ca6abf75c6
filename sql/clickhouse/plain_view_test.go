package clickhouse_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A view without parameters has, of each brand, the rows that its question gives over the default window.
func TestViewsWithoutParametersGiveWhatTheirQuestionsGiveOfEachBrand(t *testing.T) {
	t.Parallel()
	if testkit.All { // else the shards stand for it
		t.Run("one_server", func(t *testing.T) {
			t.Parallel()
			conn := warehouse.Complete(t)
			giveEveryBrand(t, conn, conn, conn)
		})
	}
	t.Run("two_shards", func(t *testing.T) {
		t.Parallel()
		conn, _ := warehouse.Sharded(t)
		giveEveryBrand(t, conn, warehouse.Shard(t, conn, 0), warehouse.Shard(t, conn, 1))
	})
}

// trackedBrand is a brand with facts. As in Postgres, no two brands share an id of what is theirs.
type trackedBrand struct{ organization, id clickhouse.UUID }

func (b trackedBrand) own(what, number byte) clickhouse.UUID {
	return clickhouse.UUID{b.organization[0], b.id[0], what, number}
}

func giveEveryBrand(t *testing.T, conn *clickhouse.Conn, shards ...*clickhouse.Conn) {
	t.Helper()
	brands := []trackedBrand{{clickhouse.UUID{1}, clickhouse.UUID{1}}, {clickhouse.UUID{1}, clickhouse.UUID{2}},
		{clickhouse.UUID{2}, clickhouse.UUID{3}}}
	random := rand.New(rand.NewPCG(3, 1))
	for i, brand := range brands {
		brand.name(t, conn)
		for n, shard := range shards {
			brand.land(t, shard, random, int64(1000*(2*i+n)))
		}
	}
	views := list(t, conn, "SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND name "+
		"LIKE '%\\_last\\_30\\_days'", nil)
	if len(views) < 9 {
		t.Fatalf("there are only %q", views)
	}
	compared := brands
	if conn.Shards() > 1 {
		compared = brands[:1] // whose rows are on both
	}
	for _, view := range views {
		question, byDay := strings.CutSuffix(strings.TrimSuffix(view, "_last_30_days"), "_by_day")
		for _, brand := range compared {
			var got, want []string
			for today := ""; today != utcDay(); { // again, if a day began meanwhile
				today = utcDay()
				got = list(t, conn, "SELECT groupArray(toString(tuple(* EXCEPT (organization_id, brand_id)))) FROM "+
					""+view+" WHERE organization_id = {organization_id:UUID} AND brand_id = {brand_id:UUID}",
					brand.ids())
				want = list(t, conn, fmt.Sprintf("SELECT groupArray(toString(tuple('brand of %s', *))) FROM %s",
					brand.id, call(t, question)), brand.byDefault(t, question, byDay))
			}
			if !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("%s has of brand %s\n%s\nand %s gives\n%s", view, brand.id, strings.Join(got, "\n"), question,
					strings.Join(want, "\n"))
			}
		}
		if seen := list(t, conn, "SELECT groupUniqArray(toString((organization_id, brand_id))) FROM "+view,
			nil); len(seen) != len(brands) {
			t.Errorf("%s has rows of %q", view, seen)
		}
	}
}

func utcDay() string { return time.Now().UTC().Format(time.DateOnly) }

func (b trackedBrand) ids() map[string]any {
	return map[string]any{"organization_id": b.organization.String(), "brand_id": b.id.String()}
}

// byDefault are the arguments of a question that is asked without any but the brand.
func (b trackedBrand) byDefault(t *testing.T, question string, byDay bool) map[string]any {
	t.Helper()
	values := b.ids()
	values["date_from"], values["date_to"] = time.Now().UTC().AddDate(0, 0, -29).Format(time.DateOnly), utcDay()
	values["granularity"], values["sort_by"], values["order"], values["source_filter"], values["limit"] = "window",
		"visibility", "desc", "all", 1_000_000
	if byDay {
		values["granularity"] = "day"
	}
	args := map[string]any{}
	for _, m := range declaredParameter.FindAllStringSubmatch(file(t, question), -1) {
		value, listed := values[m[1]]
		switch {
		case listed:
			args[m[1]] = value
		case strings.HasPrefix(m[2], "Array"):
			args[m[1]] = []string{}
		case m[2] == "UInt32", m[2] == "Float64", m[2] == "Bool":
			args[m[1]] = 0
		default:
			args[m[1]] = ""
		}
	}
	return args
}

// list is one array of texts, sorted.
func list(t *testing.T, conn *clickhouse.Conn, question string, args map[string]any) (texts []string) {
	t.Helper()
	var bound []any
	for name, value := range args {
		bound = append(bound, driver.Named(name, value))
	}
	if err := conn.QueryRow(t.Context(), question, bound...).Scan(&texts); err != nil {
		t.Fatalf("%s %v: %v", question, args, err)
	}
	slices.Sort(texts)
	return texts
}

// name makes the brand's things known; its last competitor and topic are deleted.
func (b trackedBrand) name(t *testing.T, conn *clickhouse.Conn) {
	t.Helper()
	var competitors []clickhouse.DimensionCompetitor
	var topics []clickhouse.DimensionTopic
	var prompts []clickhouse.DimensionPrompt
	for n := range byte(3) {
		competitors = append(competitors, clickhouse.DimensionCompetitor{OrganizationID: b.organization, BrandID: b.id,
			ID: b.own('c', n), Name: fmt.Sprint("rival ", n), Version: 1, Deleted: n == 2})
		topics = append(topics, clickhouse.DimensionTopic{OrganizationID: b.organization, BrandID: b.id,
			ID: b.own('t', n), Name: fmt.Sprint("topic ", n), Version: 1, Deleted: n == 2})
	}
	for n := range byte(7) {
		prompts = append(prompts, clickhouse.DimensionPrompt{OrganizationID: b.organization, BrandID: b.id,
			ID: b.own('p', n), TopicID: b.own('t', n%3), Text: fmt.Sprint("prompt ", n), Version: 1})
	}
	brand := clickhouse.DimensionBrand{OrganizationID: b.organization, ID: b.id, Name: "brand of " + b.id.String(),
		Version: 1}
	err := errors.Join(
		clickhouse.DimensionBrands.Insert(t.Context(), conn, "", []clickhouse.DimensionBrand{brand}),
		clickhouse.DimensionCompetitors.Insert(t.Context(), conn, "", competitors),
		clickhouse.DimensionTopics.Insert(t.Context(), conn, "", topics),
		clickhouse.DimensionPrompts.Insert(t.Context(), conn, "", prompts))
	if err != nil {
		t.Fatal(err)
	}
}

// land lands random answers, visits and crawls of the last 40 days.
func (b trackedBrand) land(t *testing.T, shard *clickhouse.Conn, random *rand.Rand, first int64) {
	t.Helper()
	var answers []clickhouse.AnswerRow
	var visits []*clickhouse.VisitRow
	var crawls []clickhouse.CrawlRow
	for offset := first; offset < first+150; offset++ {
		at := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0,
			-random.IntN(40)).Add(time.Duration(offset) * time.Second)
		a, v, c := warehouse.Answer(offset, at), warehouse.Visit(offset, at), warehouse.Crawl(offset, at)
		a.OrganizationID, v.OrganizationID, c.OrganizationID = b.organization, b.organization, b.organization
		a.BrandID, v.BrandID, c.BrandID = b.id, b.id, b.id
		a.PromptID, a.TopicID, a.Platform, a.Model = b.own('p', byte(random.IntN(7))),
			b.own('t', byte(random.IntN(3))), one(random, "openai", "gemini"), one(random, "m", "n")
		read(random, &a)
		a.CompetitorIDs = []clickhouse.UUID{b.own('c', 0), b.own('c', 1), b.own('c', 2)}
		v.Path, v.Country, v.NewSession = one(random, "/", "/a"), one(random, "", "DE"), random.IntN(2) == 0
		c.Path, c.Purpose = one(random, "/", "/a"), one(random, "training", "search")
		answers, visits, crawls = append(answers, a), append(visits, v), append(crawls, c)
		if taken := a; random.IntN(3) == 0 && !a.GivenUp {
			taken.Sign, a.Revision, a.MentionCount = -1, 2, 1+a.MentionCount
			answers = append(answers, taken, a)
		}
	}
	token := fmt.Sprint(b.id, first)
	err := errors.Join(
		clickhouse.Answers.Insert(t.Context(), shard, token, answers),
		clickhouse.Visits.Insert(t.Context(), shard, token, warehouse.Pack(visits...)),
		clickhouse.Crawls.Insert(t.Context(), shard, token, crawls))
	if err != nil {
		t.Fatal(err)
	}
}
