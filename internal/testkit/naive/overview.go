package naive

import (
	"cmp"
	"slices"
	"strings"
)

// Tracked is a brand of a list, with all its readings and its live competitors.
type Tracked struct {
	Live
	Slug        string
	Readings    []Reading
	Competitors []Live
}

// Overview computes /api/v1/brands-overview of brands without visits, schedules and costs, by the change of a metric.
// Topics of the filter do not apply.
func Overview(brands []Tracked, f ChangeFilter, month string) Body {
	from, to := dayNumber(f.From), dayNumber(f.To)
	compareDays := max(28, to-from+1)
	type row struct {
		*Change
		brand Tracked
	}
	var rows []row
	var list []*Change
	for _, b := range brands {
		runs := f.judged(b.Readings, b.Live, nil, 2*(to-from+1)+compareDays)
		change := Judge(runs, Question{b.ID.String(), "", "", from, to, compareDays, f.changedDays()})
		rows, list = append(rows, row{&change, b}), append(list, &change)
	}
	AdjustList(list)
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.urgency(), a.urgency()), cmp.Compare(a.brand.Name, b.brand.Name),
			cmp.Compare(a.brand.ID.String(), b.brand.ID.String()))
	})
	bodies, up, down := []Body{}, 0, 0
	for _, r := range rows {
		switch r.Verdict {
		case "moved_up":
			up++
		case "moved_down":
			down++
		}
		body := r.brand.standing(f.Filter)
		body["change"] = r.body()
		bodies = append(bodies, body)
	}
	return Body{
		"metric": f.Metric, "window": Body{"date_from": f.From, "date_to": f.To}, "month": month,
		"compare": Body{"date_from": dayText(from - compareDays), "date_to": dayText(from - 1)},
		"counts":  Body{"brands": len(brands), "moved_up": up, "moved_down": down, "late": 0}, "brands": bodies,
	}
}

// urgency is above 100 for a move down, then the size of the difference as shown; below 0 without one.
func (c *Change) urgency() float64 {
	difference := c.Difference
	if c.Since != nil {
		difference = &c.Since.Difference
	}
	if difference == nil {
		return -1
	}
	size := *oneDecimal(difference)
	switch {
	case c.Verdict == "moved_down":
		return 1000 - size
	case size < 0:
		return -size
	}
	return size
}

// standing is the row of a brand without its change.
func (b Tracked) standing(f Filter) Body {
	all := answers(f.runs(b.Readings))
	own := count(all, brand)
	var leader any
	most := 0
	for _, c := range byName(b.Competitors) {
		if theirs := count(all, rival(c.ID)); theirs.mentionAnswers > most {
			most = theirs.mentionAnswers
			leader = Body{"competitor_id": c.ID, "name": c.Name, "mention_rate_pct": theirs.mentionRate(), "gap": gap(own, theirs)}
		}
	}
	last, buckets := "", []Body{}
	for _, r := range b.Readings {
		if !r.givenUp() && !r.notShown() && !strings.HasSuffix(r.Answer.Platform, "-shopping") {
			last = max(last, r.Answer.AnsweredAt.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
	for day := max(dayNumber(f.From), dayNumber(f.To)-27); day <= dayNumber(f.To); day++ {
		text := dayText(day)
		t := count(slices.DeleteFunc(slices.Clone(all), func(r Reading) bool { return r.day() != text }), brand)
		if t.answers > 0 {
			buckets = append(buckets, Body{
				"date": text, "result_count": t.answers, "mention_rate_pct": t.mentionRate(), "mention_rate_interval": t.mentionRateInterval(),
			})
		}
	}
	return Body{
		"id": b.ID, "name": b.Name, "slug": b.Slug, "result_count": own.answers, "mention_answers": own.mentionAnswers,
		"mention_rate_pct": own.mentionRate(), "mention_rate_interval": own.mentionRateInterval(), "leader": leader,
		"visits": 0, "visits_before": 0, "visits_change": 0, "cost_usd": 0,
		"last_answer_at": unlessEmpty(last), "next_run_at": nil, "late": false, "buckets": buckets,
	}
}
