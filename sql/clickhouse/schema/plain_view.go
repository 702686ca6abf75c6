package schema

import (
	_ "embed"
	"regexp"
	"strings"
)

// A plainView is a question without parameters, for clients that list views with their columns and pass nothing: the
// question asked of each brand whose rows the user may see, over the API's default window, without filters. Its text is
// made from the question's, so that a metric has one definition.
type plainView struct {
	name     string
	question string // its file in query/
	by       string // value of granularity
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
	_, text, _ := strings.Cut(mustRead("query/"+v.question+".sql"), "\n")
	text = parameter.ReplaceAllStringFunc(ofEveryBrand(text), v.defaultValue)
	by := ""
	if v.by == "day" {
		by = " by day"
	}
	return strings.NewReplacer("<name>", v.name, "<question>", v.question, "<by>", by, "<text>", strings.TrimSpace(text)).Replace(plainViewSQL)
}

var parameter = regexp.MustCompile(`\{(\w+):([^}]+)\}`)

// defaults are the SQL for parameters that are not empty by default. The row's own brand passes every comparison with
// the brand that is asked for.
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
		return "'" + v.by + "'"
	case kind == "String":
		return "''"
	case kind == "UInt32", kind == "Float64":
		return "0"
	}
	return "CAST([], '" + kind + "')"
}

var (
	// A brand without answers has no rows, since nothing says that it is there.
	withoutAnswers = regexp.MustCompile(`(?s)UNION ALL --.*?WHERE \{group_by:String\} = ''`)
	groupingSets   = regexp.MustCompile(`GROUPING SETS \(.*\)`)
)

// ofEveryBrand makes a question about one brand one about every brand: each SELECT that has a line for each expression
// and each GROUP BY, PARTITION BY and LIMIT gets the brand. Ids of prompts, competitors and answers are unique among
// all brands, so what is looked up by them stays as it is.
func ofEveryBrand(text string) string {
	text = withoutAnswers.ReplaceAllString(text, "")
	text = groupingSets.ReplaceAllStringFunc(text, func(sets string) string {
		return strings.NewReplacer("((", "((organization_id, brand_id, ", ", ()", ", (organization_id, brand_id)", ", (", ", (organization_id, brand_id, ").Replace(sets)
	})
	for _, r := range []struct{ clause, with string }{
		{`SELECT\n`, "SELECT organization_id, brand_id,\n"},
		{`GROUP BY ([a-z])`, "GROUP BY organization_id, brand_id, $1"},
		{`PARTITION BY `, "PARTITION BY organization_id, brand_id, "},
		{`OVER \(\)`, "OVER (PARTITION BY organization_id, brand_id)"},
		{`LIMIT (\S+) BY `, "LIMIT $1 BY organization_id, brand_id, "},
		{`LIMIT (\S+)\n`, "LIMIT $1 BY organization_id, brand_id\n"},
	} {
		text = regexp.MustCompile(r.clause).ReplaceAllString(text, r.with)
	}
	return text
}
