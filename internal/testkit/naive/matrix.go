package naive

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// Matrix computes /api/v1/prompt-matrix of a brand by platform, model or region. prompts has the names of all.
func Matrix(readings []Reading, f Filter, who Live, by string, limit int, prompts map[uuid.UUID]Prompt) Body {
	byPrompt, byColumn := map[string][]Reading{}, map[string][]Reading{}
	for _, r := range answers(f.runs(readings)) {
		id, column := r.Answer.Prompt.ID.String(), keyOf(r, by)
		byPrompt[id], byColumn[column] = append(byPrompt[id], r), append(byColumn[column], r)
	}
	columns := []Body{}
	for _, key := range slices.SortedFunc(maps.Keys(byColumn), func(a, b string) int {
		return cmp.Or(len(byColumn[b])-len(byColumn[a]), cmp.Compare(a, b))
	}) {
		t := count(byColumn[key], brand)
		columns = append(columns, share(t, t.clustered(t.named, 0), Body{"key": key}))
	}
	rows := []Body{}
	for id, some := range byPrompt {
		prompt := prompts[uuid.FromStringOrNil(id)]
		row := promptShare(some, Body{
			"prompt_id": id, "prompt_text": prompt.Text, "topic_name": prompt.Topic, "topic_id": prompt.TopicID,
			"branded": slices.ContainsFunc(some, func(r Reading) bool { return r.Branded }),
		})
		byKey := map[string][]Reading{}
		for _, r := range some {
			byKey[keyOf(r, by)] = append(byKey[keyOf(r, by)], r)
		}
		cells := []Body{}
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			cells = append(cells, promptShare(byKey[key], Body{"key": key}))
		}
		row["cells"] = cells
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Body) int {
		topic := func(row Body) string {
			if name := row["topic_name"].(*string); name != nil {
				return "0" + *name
			}
			return "1"
		}
		branded := map[any]int{true: 1}
		return cmp.Or(branded[a["branded"]]-branded[b["branded"]], cmp.Compare(topic(a), topic(b)),
			cmp.Compare(*a["rate"].(figure), *b["rate"].(figure)), cmp.Compare(a["prompt_id"].(string), b["prompt_id"].(string)))
	})
	return Body{
		"brand": who, "window": Body{"date_from": f.From, "date_to": f.To}, "by": by, "columns": columns,
		"rows": rows[:min(len(rows), limit)], "next_cursor": more[len(rows) > limit],
	}
}

func promptShare(answers []Reading, row Body) Body {
	t := count(answers, brand)
	return share(t, t.ofPrompt(t.named[answers[0].Answer.Prompt.ID]), row)
}

// share adds to a row how often answers name the brand.
func share(t counts, within *Interval, row Body) Body {
	row["n"], row["mention_answers"], row["rate"], row["interval"] = t.answers, t.mentionAnswers, t.mentionRate(), within
	return row
}
