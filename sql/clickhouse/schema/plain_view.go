package schema

import (
	_ "embed"
	"regexp"
	"strings"
)

// A plainView is a view without parameters, for clients that list views with their columns and pass nothing: a query of
// query/ for all brands that the user may see, over the API's default window, without filters. Its text is derived from
// the query's, so that a metric has one definition.
type plainView struct {
	name        string
	query       string // its file in query/
	granularity string
}

var plainViews = []plainView{
	{"ai_crawlers_last_30_days", "ai_crawlers", ""},
	{"ai_traffic_last_30_days", "ai_traffic", ""},
	{"brand_visibility_by_day_last_30_days", "brand_visibility", "day"},
	{"brand_visibility_last_30_days", "brand_visibility", "window"},
	{"citation_sources_last_30_days", "citation_sources", ""},
	{"entity_visibility_last_30_days", "entity_visibility", ""},
	{"newest_cards_last_30_days", "newest_cards", ""},
	{"prompt_performance_last_30_days", "prompt_performance", ""},
	{"share_of_voice_last_30_days", "share_of_voice", "window"},
}

//go:embed plain_view.sql
var plainViewSQL string

// text is the SELECT of the view.
func (v plainView) text() string {
	_, text, _ := strings.Cut(mustRead("query/"+v.query+".sql"), "\n")
	text = parameter.ReplaceAllStringFunc(groupByBrand(text), v.defaultValue)
	by := ""
	if v.granularity == "day" {
		by = " by day"
	}
	return strings.NewReplacer("<name>", v.name, "<question>", v.query, "<by>", by,
		"<text>", strings.TrimSpace(text)).Replace(plainViewSQL)
}

var parameter = regexp.MustCompile(`\{(\w+):([^}]+)\}`)

// defaults has the SQL for parameters that are not empty by default. Each row is compared with its own brand, which
// passes.
var defaults = map[string]string{
	"organization_id": "organization_id",
	"brand_id":        "brand_id",
	"date_from":       "(toDate(now('UTC')) - 29)",
	"date_to":         "toDate(now('UTC'))",
	"sort_by":         "'visibility'",
	"order":           "'desc'",
	"source_filter":   "'all'",
	"limit":           "4294967295",
}

func (v plainView) defaultValue(placeholder string) string {
	m := parameter.FindStringSubmatch(placeholder)
	name, kind := m[1], m[2]
	switch value, listed := defaults[name]; {
	case listed:
		return value
	case name == "granularity":
		return "'" + v.granularity + "'"
	case kind == "String":
		return "''"
	case kind == "UInt32", kind == "Float64":
		return "0"
	}
	return "CAST([], '" + kind + "')"
}

// zeroRow adds a row for a brand without answers. A plain view has no such brands, since no row names them.
var zeroRow = regexp.MustCompile(`(?s)UNION ALL --.*?WHERE \{group_by:String\} = ''`)

// brandClauses adds the brand to each SELECT that has a line per expression, and to the clauses that divide rows.
var brandClauses = []struct {
	clause *regexp.Regexp
	with   string
}{
	{regexp.MustCompile(`SELECT\n`), "SELECT organization_id, brand_id,\n"},
	{regexp.MustCompile(`GROUP BY ([a-z])`), "GROUP BY organization_id, brand_id, $1"},
	{regexp.MustCompile(`PARTITION BY `), "PARTITION BY organization_id, brand_id, "},
	{regexp.MustCompile(`OVER \(\)`), "OVER (PARTITION BY organization_id, brand_id)"},
	{regexp.MustCompile(`LIMIT (\S+) BY `), "LIMIT $1 BY organization_id, brand_id, "},
	{regexp.MustCompile(`LIMIT (\S+)\n`), "LIMIT $1 BY organization_id, brand_id\n"},
}

var (
	groupingSets = regexp.MustCompile(`GROUPING SETS \(.*\)`)
	setsByBrand  = strings.NewReplacer("((", "((organization_id, brand_id, ",
		", ()", ", (organization_id, brand_id)", ", (", ", (organization_id, brand_id, ")
)

// groupByBrand converts a query of one brand to one of all brands. Ids of prompts, competitors and answers are unique
// among all brands, so lookups by them stay unchanged.
func groupByBrand(text string) string {
	text = groupingSets.ReplaceAllStringFunc(zeroRow.ReplaceAllString(text, ""), setsByBrand.Replace)
	for _, r := range brandClauses {
		text = r.clause.ReplaceAllString(text, r.with)
	}
	return text
}
