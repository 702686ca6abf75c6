package verdict

import (
	"cmp"
	"context"
	"slices"
)

const (
	episodeDays   = 28 // after which a new level is the normal one
	recentDays    = 7  // that are compared with the days before a move: each weekday once
	recoveredDays = 2  // judged days on which they are back
)

// WatchedDays is the number of days up to the judged one that decide the news of it: the window and the days before it,
// in which a move may have begun, and the days before that.
const WatchedDays = 4 * checkWindow

// Recovered is the news that a row is back at the level before its move.
const Recovered = "recovered"

// An Episode begins on the judged day on which a move was seen. It ends when the row has recovered or moved in the
// other direction, or after 28 days.
type Episode struct {
	Platform   string  `json:"platform"`  // "": all answers
	Direction  string  `json:"direction"` // MovedUp or MovedDown
	Opened     Day     `json:"opened"`
	Closed     Day     `json:"closed,omitzero"` // 0: it goes on
	Since      Day     `json:"since"`           // the first day of the new level
	Difference float64 `json:"difference"`      // in points, as seen on Opened
	News       Day     `json:"news"`            // of its last news: changes from before that day are none
	BackDays   int     `json:"back_days"`       // judged days on which the row was back
}

// News is the news of a row on a judged day.
type News struct {
	Platform string // "": all answers
	Verdict  string // MovedUp, MovedDown or Recovered
	Judged   Verdict
}

// A Watch follows the rows of a brand that alarm, all answers and each platform's, from one judged day to the next.
type Watch struct {
	brand    string
	Episodes map[string]*Episode // the newest of each platform, "" of all answers
}

// NewWatch returns a watch of a brand with the newest episode of each row.
func NewWatch(brand string, episodes ...*Episode) *Watch {
	w := &Watch{brand, map[string]*Episode{}}
	for _, e := range episodes {
		w.Episodes[e.Platform] = e
	}
	return w
}

// Look judges the rows by the 28 days up to a day, platforms as a list, and takes their episodes on to that day. It
// returns the news, and the verdict on each platform, "" of all answers.
func (w *Watch) Look(b *Basket, day Day) (news []News, verdicts map[string]string) {
	rows := []Row{{Entity: w.brand}}
	for _, platform := range b.Keys(ByPlatform) {
		rows = append(rows, Row{w.brand, ByPlatform, platform})
	}
	judged := append([]Verdict{b.Judge(WindowTo(day), rows[0])}, b.JudgeList(WindowTo(day), rows[1:])...)
	verdicts = map[string]string{}
	for i, row := range rows {
		verdicts[row.Key] = judged[i].Verdict
		isBack := func(e *Episode) bool { return b.isBack(row, e, day) }
		if kind := w.follow(row.Key, day, &judged[i], isBack); kind != "" {
			news = append(news, News{row.Key, kind, judged[i]})
		}
	}
	return news, verdicts
}

// follow takes a row from one judged day to the next, and returns the verdict of its news, "" of none. Verdicts that
// compare nothing neither open an episode nor close it.
func (w *Watch) follow(platform string, day Day, v *Verdict, isBack func(*Episode) bool) (news string) {
	last := cmp.Or(w.Episodes[platform], &Episode{News: -1, Closed: day})
	if last.Closed == 0 && day-last.Opened >= episodeDays {
		last.Closed = day
	}
	isOpen := last.Closed == 0
	switch {
	case v.Moved():
		if v.Since.Day <= max(last.News, day-episodeDays) || isOpen && v.Verdict == last.Direction {
			last.BackDays = 0
			return ""
		}
		if isOpen {
			last.Closed = day
		}
		w.Episodes[platform] = &Episode{Platform: platform, Direction: v.Verdict, Opened: day, Since: v.Since.Day,
			Difference: v.Since.Difference, News: day}
		return v.Verdict
	case isOpen && (v.Verdict == WithinNoise || v.Reason == Coarse) && isBack(last): // a large move makes days coarse
		if last.BackDays++; last.BackDays == recoveredDays {
			last.Closed, last.News = day, day
			return Recovered
		}
	}
	return ""
}

// isBack reports whether the recent days of a row, by the same models, are within noise of the days before an episode,
// and nearer to them than to the level of the move.
func (b *Basket) isBack(r Row, e *Episode, day Day) bool {
	w := Window{From: max(e.Since, day-recentDays+1), To: day}
	w.CompareDays = int(w.From-e.Since) + checkWindow
	rest := b
	if w.From > e.Since {
		rest = b.without(b.row(r), r.Entity, e.Since, w.From-1)
	}
	v := rest.Judge(w, r)
	return v.Verdict == WithinNoise && v.LeftOut.ModelChanged == 0 && *v.Difference/e.Difference < 0.5
}

// An Alarm is the news of a judged day: one message.
type Alarm struct {
	Day  Day
	News []News
}

// Alarms returns the alarms that a brand would have raised on the days with answers from one day to another. What had
// moved before is no news.
func (b *Basket) Alarms(ctx context.Context, brand string, first, last Day) (alarms []Alarm, err error) {
	w := NewWatch(brand)
	for day := first - recentDays; day <= last && ctx.Err() == nil; day++ {
		if !b.HasAnswers(day) {
			continue
		}
		if news, _ := w.Look(b, day); len(news) > 0 && day >= first {
			alarms = append(alarms, Alarm{day, news})
		}
	}
	return alarms, ctx.Err()
}

// HasAnswers reports whether the basket has answers of a day.
func (b *Basket) HasAnswers(day Day) bool {
	at := int(day - b.first)
	return at >= 0 && slices.ContainsFunc(b.cells, func(c *cell) bool { return c.answers[at] > 0 })
}
