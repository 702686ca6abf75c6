package verdict_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/answerscope/answerscope/internal/verdict"
)

// FuzzJudge judges rows of any basket whose lists are parallel: days unsorted, repeated and outside, counts that are
// huge or contradict each other, windows that begin before the basket. No figure is NaN or infinite, none panics.
func FuzzJudge(f *testing.F) {
	day := func(entity, cell byte, day uint16, runs, lost, answers uint64, points float64) []byte {
		b := binary.LittleEndian.AppendUint16([]byte{entity, cell}, day)
		for _, n := range []uint64{runs, lost, answers, math.Float64bits(points)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		return b
	}
	var plain, huge, constant, rivalOnly []byte
	for i := range uint16(56) {
		for cell := range byte(6) {
			plain = append(plain, day(0, cell*17, i, 1, 0, 1, float64(i*7919%101))...)
			huge = append(huge, day(0, cell*17, i, 1<<40, 0, 1<<40, float64(i%2)*100*(1<<40))...)
			constant = append(constant, day(0, cell*17, i, 1, 0, 1, float64(i/28)*100)...)
			rivalOnly = append(rivalOnly, day(1, cell*17, 55-i, 1, 0, 1, 60)...)
		}
	}
	for _, data := range [][]byte{plain, huge, constant, rivalOnly} {
		f.Add(data, uint16(28), uint16(28), uint16(28), int8(0), uint8(0))
		f.Add(data, uint16(28), uint16(28), uint16(28), int8(-20), uint8(5))
		f.Add(data, uint16(49), uint16(7), uint16(90), int8(80), uint8(10))
	}
	f.Fuzz(func(t *testing.T, data []byte, from, length, compare uint16, early int8, late uint8) {
		data = data[:min(len(data), 1<<15)]
		w := verdict.Window{From: verdict.Day(from), CompareDays: 1 + int(compare%400)}
		w.To = w.From + verdict.Day(length%400)
		first := w.Earliest() + verdict.Day(early)
		last := max(first, w.To+verdict.Day(late))
		cells, served, changed := hostile(data)
		basket := verdict.NewBasket(first, last, cells, served)
		for platform, days := range changed {
			for _, day := range days {
				basket.AddPlatformChange(platform, day)
			}
		}
		for _, entity := range []string{"0", "1", "nobody"} {
			var list []*verdict.Verdict
			for _, dimension := range []verdict.Dimension{
				verdict.All, verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt,
			} {
				for _, key := range append(basket.Keys(dimension), "") {
					v := basket.Judge(w, verdict.Row{Entity: entity, Dimension: dimension, Key: key})
					if wrong := impossible(v); wrong != "" {
						t.Errorf("%s %s %q: %s: %+v", entity, dimension, key, wrong, v)
					}
					list = append(list, &v)
				}
			}
			verdict.Adjust(list)
		}
	})
}

// hostile reads a row from each 36 bytes, or adds a day to the row with the same ids.
func hostile(data []byte) ([]verdict.Cell, []verdict.Served, map[string][]verdict.Day) {
	var cells []verdict.Cell
	var served []verdict.Served
	places := map[[2]byte]int{}
	changed := map[string][]verdict.Day{}
	for ; len(data) >= 36; data = data[36:] {
		entity, id, day := data[0]%2, data[1], binary.LittleEndian.Uint16(data[2:])
		i, there := places[[2]byte{entity, id}]
		if !there {
			i = len(cells)
			places[[2]byte{entity, id}] = i
			cells = append(cells, verdict.Cell{
				EntityID: fmt.Sprint(entity), PromptID: fmt.Sprint(id % 12),
				TopicID:  []string{"", "t1", "t2", "t3"}[id/12%4],
				Platform: fmt.Sprint("p", id/48%3), Region: fmt.Sprint(id / 144),
			})
		}
		c := &cells[i]
		count := func(at int) int64 { return int64(binary.LittleEndian.Uint64(data[at:]) >> 2) }
		points := math.Float64frombits(binary.LittleEndian.Uint64(data[28:]))
		if !(math.Abs(points) < 1e20) {
			points = 0
		}
		c.Days, c.Points = append(c.Days, day), append(c.Points, points)
		if entity > 0 {
			continue
		}
		c.Runs, c.GivenUp, c.Answers = append(c.Runs, count(4)), append(c.GivenUp, count(12)),
			append(c.Answers, count(20))
		if data[0] >= 128 {
			served = append(served, verdict.Served{
				Platform: c.Platform, ServedModel: fmt.Sprint(data[2] % 3), Day: day, Answers: count(20),
			})
		}
		if data[0]%128 == 126 {
			changed[c.Platform] = append(changed[c.Platform], verdict.Day(day))
		}
	}
	return cells, served, changed
}

// impossible names the first figure that no verdict may have.
func impossible(v verdict.Verdict) string {
	figures := map[string]*float64{
		"before": v.Before, "after": v.After, "difference": v.Difference, "e_value": v.EValue, "e_days": v.EDays,
		"detectable": v.Detectable,
		"outage":     &v.LeftOut.Outage, "model_changed": &v.LeftOut.ModelChanged,
		"basket_changed": &v.LeftOut.BasketChanged,
	}
	intervals := []*verdict.Interval{v.Interval}
	if s := v.Since; s != nil {
		figures["since difference"] = &s.Difference
		intervals = append(intervals, s.Interval)
	}
	for _, i := range intervals {
		if i == nil {
			continue
		}
		figures["low"], figures["high"] = &i.Low, &i.High
		if i.Low > i.High {
			return "interval"
		}
	}
	for name, x := range figures {
		if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
			return name
		}
	}
	for _, share := range []float64{v.LeftOut.Outage, v.LeftOut.ModelChanged, v.LeftOut.BasketChanged} {
		if share < 0 || share > 1 {
			return "left out"
		}
	}
	if v.EValue != nil && *v.EValue < 0 || v.EDays != nil && *v.EDays < 0 {
		return "evidence"
	}
	return ""
}
