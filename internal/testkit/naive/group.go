package naive

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// keyOf is what an answer is grouped by: platform, model or region, in lower case, or topic.
func keyOf(r Reading, by string) string {
	switch a := r.Answer; {
	case by == "platform":
		return strings.ToLower(a.Platform)
	case by == "model":
		return strings.ToLower(a.Model)
	case by == "region":
		return strings.ToLower(a.Region)
	case a.Prompt.TopicID != nil:
		return a.Prompt.TopicID.String()
	}
	return ""
}

// Grouped adds to the body that figures makes of all readings the groups that group_by asks for: the same body, without
// what it says of the question, of the readings of each. topics are those that live. At most 50 groups that have
// answers come, by answers, then by key.
func Grouped(readings []Reading, f Filter, by string, topics map[uuid.UUID]string, figures func([]Reading) Body) Body {
	of, count := map[string][]Reading{}, map[string]int{}
	for _, r := range f.runs(readings) {
		key := keyOf(r, by)
		of[key] = append(of[key], r)
		if !r.givenUp() {
			count[key] += 0 // a group that was seen, with answers or without
		}
		if !r.givenUp() && !r.notShown() {
			count[key]++
		}
	}
	groups := []Body{}
	for _, key := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	}) {
		group := figures(of[key])
		for _, asked := range []string{"window", "granularity"} {
			delete(group, asked)
		}
		if _, live := group["brand"].(Live); live { // which a group of the summary leaves out
			delete(group, "brand")
		}
		group["key"], group["name"] = key, nameOf(key, by, topics)
		groups = append(groups, group)
	}
	body := figures(readings)
	body["groups"] = groups[:min(len(groups), 50)]
	return body
}

func nameOf(key, by string, topics map[uuid.UUID]string) any {
	if by == "topic" {
		key = topics[uuid.FromStringOrNil(key)]
	}
	return unlessEmpty(key)
}

// Filters computes /api/v1/filters: what runs, given-up ones too, can be filtered by.
func Filters(readings []Reading, f Filter, topics map[uuid.UUID]string) Body {
	values := func(by string) []string {
		there := map[string]bool{}
		for _, r := range f.runs(readings) {
			there[keyOf(r, by)] = true
		}
		delete(there, "")
		return append([]string{}, slices.Sorted(maps.Keys(there))...)
	}
	ids := values("topic")
	slices.SortStableFunc(ids, func(a, b string) int { // those that were deleted last
		live := func(id string) string { return topics[uuid.FromStringOrNil(id)] }
		return cmp.Or(cmp.Compare(min(len(live(b)), 1), min(len(live(a)), 1)), cmp.Compare(live(a), live(b)))
	})
	named := []Body{}
	for _, id := range ids {
		named = append(named, Body{"id": id, "name": nameOf(id, "topic", topics)})
	}
	simulated := slices.ContainsFunc(f.runs(readings), func(r Reading) bool { return r.Answer.Simulated })
	return Body{
		"platforms": values("platform"), "models": values("model"), "regions": values("region"), "topics": named,
		"simulated": simulated,
	}
}
