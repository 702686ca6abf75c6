package naive

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
)

var searchedWord = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:['&+.-][\p{L}\p{M}\p{N}]+)*`)

// Fanout computes /api/v1/fanout; covered says whether a prompt asks for what a search asks for.
func Fanout(readings []Reading, f Filter, limit int, covered func(query string) bool) Body {
	all := answers(f.runs(readings))
	byQuery, byPlatform := map[string][]Reading{}, map[string][]Reading{}
	added, dropped, compared := map[string]int{}, map[string]int{}, 0
	for _, r := range all {
		byPlatform[keyOf(r, "platform")] = append(byPlatform[keyOf(r, "platform")], r)
		for i, query := range r.Answer.SearchQueries {
			if !slices.Contains(r.Answer.SearchQueries[:i], query) {
				byQuery[query] = append(byQuery[query], r)
			}
			prompt, search := searchedWord.FindAllString(fold(r.Answer.Prompt.Text), -1), searchedWord.FindAllString(fold(query), -1)
			if slices.Equal(prompt, search) {
				continue
			}
			compared++
			addMissing(added, search, prompt)
			addMissing(dropped, prompt, search)
		}
	}
	queries := []Body{}
	for query, with := range byQuery {
		ours, platforms, prompts := count(with, brand), map[string]bool{}, map[uuid.UUID]bool{}
		for _, r := range with {
			platforms[keyOf(r, "platform")], prompts[r.Answer.Prompt.ID] = true, true
		}
		queries = append(queries, Body{
			"query": query, "answers": len(with), "prompts": len(prompts), "platforms": slices.Sorted(maps.Keys(platforms)),
			"covered": covered(query), "mention_rate_pct": ours.mentionRate(), "cites_own_pct": rounded(rat(100*ours.citationAnswers), len(with), 1),
		})
	}
	slices.SortFunc(queries, func(a, b Body) int {
		return cmp.Or(b["answers"].(int)-a["answers"].(int), strings.Compare(a["query"].(string), b["query"].(string)))
	})
	platforms := []Body{}
	for _, platform := range slices.Sorted(maps.Keys(byPlatform)) {
		of := byPlatform[platform]
		platforms = append(platforms, Body{
			"platform": platform, "answers": len(of), "searching_answers": searching(of), "searches_per_answer": rounded(rat(searches(of)), len(of), 1),
		})
	}
	return Body{
		"totals":  Body{"answers": len(all), "searching_answers": searching(all), "searches": searches(all), "queries": len(byQuery)},
		"queries": queries[:min(limit, len(queries))], "by_platform": platforms,
		"words": Body{"added": topWords(added, compared, limit), "dropped": topWords(dropped, compared, limit)},
	}
}

// addMissing counts the words, each once, that others lack.
func addMissing(counts map[string]int, words, others []string) {
	for i, word := range words {
		if !slices.Contains(words[:i], word) && !slices.Contains(others, word) {
			counts[word]++
		}
	}
}

func topWords(counts map[string]int, compared, limit int) []Body {
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	rows := []Body{}
	for _, word := range words[:min(limit, len(words))] {
		rows = append(rows, Body{"word": word, "searches": counts[word], "pct": rounded(rat(100*counts[word]), compared, 1)})
	}
	return rows
}

func searching(all []Reading) (n int) {
	for _, r := range all {
		n += min(1, len(r.Answer.SearchQueries))
	}
	return n
}

func searches(all []Reading) (n int) {
	for _, r := range all {
		n += len(r.Answer.SearchQueries)
	}
	return n
}
