package verdict

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
)

const (
	checkLooks   = 90 // a quarter
	checkWindow  = 28 // days, compared with as many before
	minCheckDays = 2 * checkWindow
	heldAge      = 28 // days since the look that saw a move
	heldDays     = 14 // after that look
)

// CheckedDays is the number of days up to the last look that Check reads: looks, window, and days before, twice.
const CheckedDays = checkLooks - 1 + 3*checkWindow

// A CheckKind selects counts of a check.
type CheckKind struct{ Relabelling, Reach string }

// CheckKinds are the counts of a check. Signs keep jumps of prompts, which reach prompts reports: it has no false
// alarms there.
var CheckKinds = []CheckKind{
	{RelabelSigns, ReachBrand},
	{RelabelDays, ReachBrand}, {RelabelDays, ReachPrompts},
	{NotRelabelled, ReachBrand}, {NotRelabelled, ReachPrompts},
}

// A CheckCount counts looks at rows and the moves that they see. Looks that cannot see a move of its reach, as with too
// few prompts or days, are not in it: they would dilute the rate. Relabelled answers have no Moves and HeldMoves.
type CheckCount struct{ Rows, Looks, AlarmedLooks, AlarmedRows, Moves, HeldMoves int }

// A Check counts looks at baskets.
type Check map[CheckKind]CheckCount

// A rule returns the reach of a move, "" of none.
type rule func(*Verdict) string

func published(v *Verdict) string { return v.Reach }

// Add looks at a brand and at each of its platforms on each of the last 90 days, as they came and relabelled so that
// nothing moved. Rows with answers on under 56 days are left out. The draws depend on last and brand alone.
func (c Check) Add(b *Basket, last Day, brand string) {
	seed := sha256.Sum256(fmt.Appendf(nil, "%d %s", last, brand))
	random := rand.New(rand.NewChaCha8(seed))
	rows := []Row{{Entity: brand}}
	for _, platform := range b.Keys(ByPlatform) {
		rows = append(rows, Row{brand, ByPlatform, platform})
	}
	for _, row := range rows {
		c.addRow(b, row, last, random)
	}
}

func (c Check) addRow(b *Basket, r Row, last Day, random *rand.Rand) {
	cells := b.row(r)
	days := answeredDays(cells)
	if len(days) < minCheckDays {
		return
	}
	first := max(last-checkLooks+1, b.first+Day(days[0]+minCheckDays-1))
	verdicts := b.look(r, first, last)
	c.count(NotRelabelled, verdicts, published)
	c.count(RelabelSigns, b.relabelSigns(cells, r.Entity, random).look(r, first, last), published)
	c.count(RelabelDays, b.relabelDays(cells, r.Entity, days, random).look(r, first, last), published)
	c.addMoves(b, r, verdicts[:max(0, int(last-first)+1-heldAge)], first)
}

// answeredDays returns the days on which any cell has answers, since the basket's first.
func answeredDays(cells []*cell) (days []int) {
	for at := 0; len(cells) > 0 && at < len(cells[0].answers); at++ {
		if slices.ContainsFunc(cells, func(c *cell) bool { return c.answers[at] > 0 }) {
			days = append(days, at)
		}
	}
	return days
}

// WindowTo returns the 28 days up to a day, compared with as many before: the window that is looked at every day.
func WindowTo(to Day) Window { return Window{to - checkWindow + 1, to, checkWindow} }

func (b *Basket) look(r Row, first, last Day) (verdicts []Verdict) {
	for day := first; day <= last; day++ {
		verdicts = append(verdicts, b.Judge(WindowTo(day), r))
	}
	return verdicts
}

func (c Check) count(relabelling string, verdicts []Verdict, alarm rule) {
	for _, kind := range CheckKinds {
		if kind.Relabelling != relabelling {
			continue
		}
		n, alarmed := c[kind], 0
		n.Rows++
		for i := range verdicts {
			v := &verdicts[i]
			if v.EDays == nil || kind.Reach == ReachBrand && v.EValue == nil {
				continue
			}
			n.Looks++
			if alarm(v) == kind.Reach {
				alarmed++
			}
		}
		n.AlarmedLooks += alarmed
		n.AlarmedRows += min(1, alarmed)
		c[kind] = n
	}
}

// addMoves counts the moves of verdicts since first that can be compared with the 14 days after they were seen, and
// those that held: these days still differ from the days before the move. One that began before the last was seen is
// the same.
func (c Check) addMoves(b *Basket, r Row, verdicts []Verdict, first Day) {
	seen := Day(0)
	for i, v := range verdicts {
		if !v.Moved() || v.Since.Day <= seen {
			continue
		}
		seen = first + Day(i)
		rest := b.without(b.row(r), r.Entity, v.Since.Day, seen)
		later := rest.Judge(Window{seen + 1, seen + heldDays, minCheckDays}, r).Difference
		if later == nil {
			continue
		}
		n := c[CheckKind{NotRelabelled, v.Reach}]
		n.Moves++
		if *later/v.Since.Difference >= 0.5 {
			n.HeldMoves++
		}
		c[CheckKind{NotRelabelled, v.Reach}] = n
	}
}
