package naive

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
)

// ChangeFilter is what the parameters of /api/v1/visibility-changes say.
type ChangeFilter struct {
	Filter
	Metric      string              // score, mention_rate or citation_rate
	CompareDays int                 // 0: as many as the window has, 28 at least
	GroupBy     []string            // platform, topic, prompt, competitor
	Changed     map[string][]string // days on which a platform changed, by its slug
	OnePrompt   string              // the id of the prompt that change is about; "": all
}

// ChangeNames are how things are called now; topics are those that live.
type ChangeNames struct {
	Prompts map[uuid.UUID]Prompt
	Topics  map[uuid.UUID]string
}

// Changes computes /api/v1/visibility-changes of a brand, without false_alarms. competitors are those that live.
func Changes(readings []Reading, f ChangeFilter, who Live, competitors []Live, names ChangeNames) Body {
	from, to := dayNumber(f.From), dayNumber(f.To)
	compareDays := f.CompareDays
	if compareDays == 0 {
		compareDays = max(28, to-from+1)
	}
	runs := f.judged(readings, who, competitors, 2*(to-from+1)+compareDays)
	ask := func(entity Live, dimension, key string) *Change {
		change := Judge(runs, Question{entity.ID.String(), dimension, key, from, to, compareDays, f.changedDays()})
		return &change
	}
	whole := ask(who, "", "")
	if f.OnePrompt != "" {
		whole = ask(who, "prompt", f.OnePrompt)
	}
	type row struct {
		dimension, key string
		name           *string
		entity         Live
		*Change
	}
	var rows []row
	for _, dimension := range f.GroupBy {
		if dimension == "competitor" {
			for _, c := range competitors {
				rows = append(rows, row{dimension, c.ID.String(), &c.Name, c, ask(c, "", "")})
			}
			continue
		}
		for _, key := range keys(runs, dimension) {
			rows = append(rows, row{dimension, key, names.of(dimension, key), who, ask(who, dimension, key)})
		}
	}
	var list []*Change
	for _, r := range rows {
		list = append(list, r.Change)
	}
	AdjustList(list)
	slices.SortFunc(rows, func(a, b row) int {
		label := func(r row) string {
			if r.name == nil {
				return r.key
			}
			return *r.name
		}
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(label(a), label(b)), cmp.Compare(a.key, b.key))
	})
	changes := []Body{}
	for _, r := range rows {
		role := "brand"
		if r.entity.ID != who.ID {
			role = "competitor"
		}
		body := r.body()
		body["dimension"], body["key"], body["name"] = r.dimension, r.key, r.name
		body["entity"] = Body{"id": r.entity.ID, "name": r.entity.Name, "role": role}
		changes = append(changes, body)
	}
	return Body{
		"brand": who, "metric": f.Metric, "window": Body{"date_from": f.From, "date_to": f.To},
		"compare": Body{"date_from": dayText(from - compareDays), "date_to": dayText(from - 1)},
		"change":  whole.body(), "changes": changes,
	}
}

// WithChange adds to the body of a summary or trend what it says of a change of the score over all answers.
func WithChange(body Body, readings []Reading, f Filter, who Live) Body {
	asked := ChangeFilter{Filter: f.everyPrompt(), Metric: "score"}
	if f.Prompt != nil {
		asked.OnePrompt = f.Prompt.String()
	}
	change := Changes(readings, asked, who, nil, ChangeNames{})["change"].(Body)
	if totals, summary := body["totals"].(Body); summary {
		totals["change"] = change
		return body
	}
	changes := []Body{}
	if direction, moved := strings.CutPrefix(change["verdict"].(string), "moved_"); moved {
		since := change["since"].(Body)
		changes = append(changes, Body{
			"day": since["day"], "difference": since["difference"], "direction": direction, "reach": change["reach"],
		})
	}
	body["changes"] = changes
	return body
}

// judged are the runs that pass the filter, over the days up to its last.
func (f ChangeFilter) judged(readings []Reading, who Live, competitors []Live, days int) (runs []*Run) {
	longer := f.Filter
	longer.From = dayText(dayNumber(f.To) - days + 1)
	for _, r := range longer.runs(readings) {
		run := &Run{
			Prompt: r.Answer.Prompt.ID.String(), Platform: strings.ToLower(r.Answer.Platform), Model: strings.ToLower(r.Answer.Model),
			Region: strings.ToLower(r.Answer.Region), Served: servedBy(r), Day: dayNumber(r.day()), GivenUp: r.givenUp(), NotShown: r.notShown(),
		}
		if id := r.Answer.Prompt.TopicID; id != nil {
			run.Topic = id.String()
		}
		if !run.GivenUp && !run.NotShown {
			run.Points = map[string]float64{who.ID.String(): f.points(r.Brand)}
			for _, c := range competitors {
				run.Points[c.ID.String()] = f.points(rival(c.ID)(r))
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// points are an answer's, 0 to 100.
func (f ChangeFilter) points(n Named) (points float64) {
	switch {
	case f.Metric == "mention_rate" && n.Mentions > 0, f.Metric == "citation_rate" && n.Citations > 0:
		return 100
	case f.Metric != "score":
		return 0
	}
	if n.Mentions > 0 {
		points += 60 + 15/float64(n.Position)
	}
	if n.Citations > 0 {
		points += 25
	}
	return points
}

func (f ChangeFilter) changedDays() map[string][]int {
	changed := map[string][]int{}
	for platform, days := range f.Changed {
		for _, day := range days {
			changed[platform] = append(changed[platform], dayNumber(day))
		}
	}
	return changed
}

// keys are the values of a dimension that the runs have; no topic is none.
func keys(runs []*Run, dimension string) []string {
	there := map[string]bool{}
	for _, r := range runs {
		there[r.value(dimension)] = true
	}
	delete(there, "")
	return slices.Sorted(maps.Keys(there))
}

func (n ChangeNames) of(dimension, key string) *string {
	switch id := uuid.FromStringOrNil(key); dimension {
	case "platform":
		return &key
	case "prompt":
		text := n.Prompts[id].Text
		return &text
	default:
		return unlessEmpty(n.Topics[id])
	}
}

// size is that of a move, in points, below 0 for any other verdict. Halves of a billionth are noise of the computation.
func (c *Change) size() float64 {
	if c.Verdict != "moved_up" && c.Verdict != "moved_down" {
		return -1
	}
	return math.Round(math.Abs(c.Since.Difference)*1e9) / 1e9
}

func (c *Change) body() Body {
	body := Body{
		"verdict": c.Verdict, "reach": unlessEmpty(c.Reach), "reason": unlessEmpty(c.Reason), "unadjusted": unlessEmpty(c.Unadjusted),
		"before": oneDecimal(c.Before), "after": oneDecimal(c.After), "difference": oneDecimal(c.Difference),
		"e_value": fourDigits(c.EValue), "e_days": fourDigits(c.EDays), "interval": c.Interval.body(),
		"detectable": oneDecimal(c.Detectable), "since": nil,
		"prompts": c.Prompts, "days_before": c.DaysBefore, "days_after": c.DaysAfter,
		"left_out": Body{"outage": shareOf(c.Outage), "model_changed": shareOf(c.ModelChanged), "basket_changed": shareOf(c.BasketChanged)},
	}
	if s := c.Since; s != nil {
		body["since"] = Body{"day": dayText(s.Day), "difference": oneDecimal(&s.Difference), "interval": s.Interval.body()}
	}
	return body
}

func (r *Range) body() any {
	if r == nil {
		return nil
	}
	return Body{"low": oneDecimal(&r.Low), "high": oneDecimal(&r.High)}
}

// oneDecimal rounds half away from zero; sums of fractions may be a billionth short of a half.
func oneDecimal(x figure) figure {
	if x == nil {
		return nil
	}
	rounded := math.Round((*x+math.Copysign(1e-9, *x))*10)/10 + 0 // never -0
	return &rounded
}

func shareOf(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func fourDigits(x figure) figure {
	if x == nil {
		return nil
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 4, 64), 64) // written by FormatFloat
	return &rounded
}

const secondsOfDay = 24 * 60 * 60

// dayNumber counts from 1970-01-01; dayText is its inverse.
func dayNumber(day string) int {
	at, _ := time.Parse(time.DateOnly, day) // a day of the filter, or of an answer
	return int(at.Unix() / secondsOfDay)
}

func dayText(day int) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
}
