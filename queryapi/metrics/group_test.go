package metrics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/naive"
)

// groupEndpoints have groups.
var groupEndpoints = []string{"visibility-summary", "visibility-trend", "competitor-comparison", "sentiment"}

// compareGroups asks one of the endpoints, each in its turn, for groups of some kind: they are what the plainest
// computation says of the answers of each, and together they have what the whole has. Filters are drawn until two
// groups have something, at most fifty times.
func (h *history) compareGroups(t *testing.T, slug string, brand naive.Live, rivals []naive.Live) {
	t.Helper()
	endpoint := groupEndpoints[h.grouped%len(groupEndpoints)]
	h.grouped++
	readings := h.readings[slug]
	if endpoint == "sentiment" { // groups without answers are not listed
		readings = slices.DeleteFunc(slices.Clone(readings), func(r naive.Reading) bool {
			return r.Answer.Finish == event.FinishNotShown
		})
	}
	for draw := range 50 {
		filter, query := h.randomFilter(h.random, slug)
		by, granularity := pick(h.random, "platform", "model", "region", "topic"),
			pick(h.random, "day", "week", "month")
		hiding := filter.WithHiding(h.readings[slug])
		want := naive.Grouped(readings, hiding, by, h.topics, func(r []naive.Reading) naive.Body {
			switch endpoint {
			case "visibility-summary":
				return naive.Summary(r, hiding, brand, rivals)
			case "competitor-comparison":
				return naive.Comparison(r, hiding, brand, rivals)
			case "sentiment":
				return naive.Labels(r, hiding, rivals)
			}
			return naive.Trend(r, hiding, granularity, rivals)
		})
		groups := groupsThatSaySomething(t, want)
		if groups < 2 && draw < 49 {
			continue
		}
		h.compared["groups of "+endpoint] += groups
		switch endpoint {
		case "sentiment":
			want = withMethod(want)
		case "visibility-trend":
			query.Set("granularity", granularity)
			want = naive.WithChange(want, h.readings[slug], hiding, brand)
		case "visibility-summary":
			want = naive.WithChange(want, h.readings[slug], hiding, brand)
		}
		query.Set("brand_id", h.ids[slug])
		query.Set("group_by", by)
		target := "/api/v1/" + endpoint + "?" + query.Encode()
		groupsAddUp(t, target, h.wantBodyOf(t, h.owners[slug], target, want))
		return
	}
}

// groupsThatSaySomething counts the groups of a body in which an additive figure is not 0.
func groupsThatSaySomething(t *testing.T, body naive.Body) (count int) {
	t.Helper()
	text, err := json.Marshal(body["groups"])
	if err != nil {
		t.Fatal(err)
	}
	var groups []any
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		if slices.ContainsFunc(additive, func(name string) bool { return sumOf(group, name) > 0 }) {
			count++
		}
	}
	return count
}

// additive are the figures of a body, wherever they are in it, of which the whole has the sum of its groups.
var additive = strings.Fields(`resultCount totalMentions totalCitations mentionAnswers citationAnswers
	result_count total_mentions total_citations appearance_count total_brand_mentions total_competitor_mentions
	positive neutral negative unknown labelled notShown`)

// groupsAddUp compares the sums over a body of its additive figures with those over its groups.
func groupsAddUp(t *testing.T, target, body string) {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err, body)
	}
	groups := whole["groups"]
	delete(whole, "groups")
	for _, name := range additive {
		if all, parts := sumOf(whole, name), sumOf(groups, name); all != parts {
			t.Errorf("%s: %s is %v in all, %v in the groups together", target, name, all, parts)
		}
	}
}

// sumOf adds up all figures of a name.
func sumOf(value any, name string) (sum float64) {
	switch of := value.(type) {
	case map[string]any:
		for member, value := range of {
			if n, figure := value.(float64); figure && member == name {
				sum += n
			} else {
				sum += sumOf(value, name)
			}
		}
	case []any:
		for _, value := range of {
			sum += sumOf(value, name)
		}
	}
	return sum
}

// Of more groups than fifty those with the most answers are shown, and the whole has all.
func TestFiftyGroupsAreShown(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	var facts []answerFact
	for n := range 60 {
		facts = append(facts, answerFact{
			On: "2026-03-30", Region: fmt.Sprintf("r%02d", n), Text: "Lumen", Times: 1 + n/30,
		})
	}
	s.addFacts(t, facts...)
	for _, endpoint := range []string{"visibility-summary", "visibility-trend", "competitor-comparison"} {
		_, body := s.get(t, "acme", "/api/v1/"+endpoint+"?group_by=region&brand_id="+s.ids["lumen"])
		var shown struct{ Groups []groupName }
		if err := json.Unmarshal([]byte(body), &shown); err != nil {
			t.Fatal(err)
		}
		keys := make([]string, len(shown.Groups))
		for i, g := range shown.Groups {
			keys[i] = g.Key
		}
		if len(keys) != maxGroups || keys[0] != "r30" || keys[29] != "r59" || keys[30] != "r00" || keys[49] != "r19" {
			t.Errorf("%s shows %q", endpoint, keys)
		}
	}
	_, body := s.get(t, "acme", "/api/v1/prompt-matrix?by=region&brand_id="+s.ids["lumen"])
	var matrix matrixBody
	if err := json.Unmarshal([]byte(body), &matrix); err != nil {
		t.Fatal(err)
	}
	columns := matrix.Columns
	if len(columns) != maxGroups || columns[0].Key != "r30" || columns[49].Key != "r19" || len(matrix.Rows) != 1 ||
		matrix.Rows[0].N != 90 {
		t.Fatalf("the matrix shows %+v", matrix)
	}
	if cells := matrix.Rows[0].Cells; len(cells) != maxGroups || cells[0].Key != "r00" || cells[19].Key != "r19" ||
		cells[20].Key != "r30" {
		t.Errorf("the row shows %+v", cells)
	}
}
