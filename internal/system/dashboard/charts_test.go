package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

// A mark is a figure of a chart: as the API's body has it, or as the page draws it.
type mark struct {
	Key, X    string
	Value     float64
	Low, High *float64
	N         *float64
	Row       string // the first cell of its row in the table behind; "": X
}

// A drawnMark is a mark of the page, with the value that its place has on the axis, and that of half a pixel.
type drawnMark struct {
	mark
	Inverted, Half float64
}

// drawnMarks reads the marks of a figure. A circle stands at its value, a rectangle is as long as it is.
const drawnMarks = `((figure) => {
	const ticksOf = (svg) => [...(svg.querySelector("[data-tick]") ? svg :
		figure).querySelectorAll("[data-tick]")].map((tick) => {
		const box = tick.querySelector("line").getBoundingClientRect()
		return { value: Number(tick.dataset.tick), x: box.x, y: box.y }
	})
	const optional = (text) => text === undefined ? null : Number(text)
	return [...figure.querySelectorAll("[data-key]")].map((element) => {
		const { key, x, value, low, high, n } = element.dataset
		const mark = { Key: key, X: x, Value: Number(value), Low: optional(low), High: optional(high), N: optional(n) }
		const shape = element.querySelector("circle, rect")
		if (!shape) return { ...mark, Inverted: mark.Value, Half: 0 } // a cell is text
		const ticks = ticksOf(shape.ownerSVGElement)
		const [first, last] = [ticks[0], ticks.at(-1)]
		const along = Math.abs(first.y - last.y) > Math.abs(first.x - last.x) ? "y" : "x"
		const unit = (last.value - first.value) / (last[along] - first[along])
		const box = shape.getBoundingClientRect()
		const size = along == "y" ? "height" : "width"
		const inverted = shape.tagName == "rect" ? shape[size].baseVal.value * Math.abs(unit) :
			first.value + (box[along] + box[size] / 2 - first[along]) * unit
		return { ...mark, Inverted: inverted, Half: Math.abs(unit) / 2 }
	})
})(document.querySelector('figure[aria-label=%q]'))`

// showsMarks compares the marks of a chart with those of the API's body: the set, the values at their places, and the
// rows of the table behind.
func (d *dashboard) showsMarks(t *testing.T, chart, unit string, want []mark) {
	t.Helper()
	d.page.Await(t, fmt.Sprintf(`document.querySelector('figure[aria-label=%q] [data-key]')`, chart))
	var drawn []drawnMark
	d.page.Eval(t, fmt.Sprintf(drawnMarks, chart), &drawn)
	if len(drawn) != len(want) || len(want) == 0 {
		t.Fatalf("%q has %d marks, want %d", chart, len(drawn), len(want))
	}
	order := func(a, b mark) int { return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.X, b.X)) }
	slices.SortFunc(drawn, func(a, b drawnMark) int { return order(a.mark, b.mark) })
	want = slices.SortedFunc(slices.Values(want), order)
	rows := d.rowsBehind(t, chart)
	text := func(value float64) string { return number(value) + unit }
	if unit == "%" {
		text = percent
	}
	for i, w := range want {
		m := drawn[i]
		if m.Key != w.Key || m.X != w.X || m.Value != w.Value || !same(m.Low, w.Low) || !same(m.High, w.High) ||
			!same(m.N, w.N) {
			t.Errorf("a mark of %q is %s, want %s", chart, m.mark, w)
		}
		if math.Abs(m.Inverted-m.Value) > m.Half {
			t.Errorf("%s of %q stands at %g", m.mark, chart, m.Inverted)
		}
		row := rows[cmp.Or(w.Row, w.X)]
		if !slices.ContainsFunc(row, func(cell string) bool { return strings.HasPrefix(cell, text(w.Value)) }) {
			t.Errorf("the table behind %q has %q for %s", chart, row, w)
		}
	}
	const strange = `[...document.querySelectorAll('figure[aria-label=%q] svg *')].filter((e) => ` +
		`[...e.attributes].some((a) => /NaN|Infinity|undefined/.test(a.value))).length + ""`
	if n := d.text(t, fmt.Sprintf(strange, chart)); n != "0" {
		t.Errorf("%s elements of %q have no number", n, chart)
	}
}

// walk goes over the marks of a figure by arrows, and returns those that it does not reach, and what else is wrong.
const walk = `((figure) => {
	const wrong = []
	const stops = figure.querySelectorAll('[data-at][tabindex="0"]')
	if (stops.length != 1) wrong.push(stops.length + " tab stops")
	const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
		key, bubbles: true, cancelable: true }))
	const left = new Set([...figure.querySelectorAll("[data-at]")].map((mark) => mark.dataset.at))
	const at = () => document.activeElement.dataset.at
	const go = (key, visit) => { for (let before; before != at(); ) { visit(); before = at(); press(key) } }
	stops[0].focus()
	go("ArrowUp", () => {})
	go("ArrowDown", () => { press("Home"); go("ArrowRight", () => left.delete(at())) })
	for (const mark of left) wrong.push("no arrow leads to " + figure.querySelector('[data-at="' + mark + '"]')
		.ariaLabel)
	const { key, value, n } = document.activeElement.dataset
	const name = document.activeElement.ariaLabel
	if (!name.includes(Number(value).toLocaleString("en-US")) || (n &&
		!name.includes("n = " + Number(n).toLocaleString("en-US")))) wrong.push(key + " is called " + name)
	return wrong
})(document.querySelector('figure[aria-label=%q]'))`

// walksMarks reaches each mark of a chart by arrows from its one tab stop. A tip says what has the focus, until Escape.
func (d *dashboard) walksMarks(t *testing.T, chart string) {
	t.Helper()
	var wrong []string
	if d.page.Eval(t, fmt.Sprintf(walk, chart), &wrong); len(wrong) > 0 {
		t.Errorf("%q: %q", chart, wrong)
	}
	d.page.Await(t, `document.querySelector(".tip")`)
	d.page.Press(t, "Escape")
	d.page.Await(t, `!document.querySelector(".tip")`)
}

// A tip says what is under the pointer, until Escape. Of a finger the first tap shows a mark, the second one opens it.
func (d *dashboard) tapsCharts(t *testing.T) {
	for _, at := range [][3]string{
		{"", "Overview", "Visibility trend"}, {"/prompts", "Prompts", "Prompts by platform"},
	}[:testkit.Draws(1, 2)] {
		d.at(t, "/brands/fernwood"+at[0], at[1])
		marks := fmt.Sprintf(`document.querySelectorAll('figure[aria-label=%q] a[data-n]')`, at[2])
		d.page.Await(t, marks+".length > 2")
		var place struct{ X, Y float64 }
		d.page.Eval(t, `((mark) => {
			mark.scrollIntoView({ block: "center" })
			const { x, y, width, height } = mark.getBoundingClientRect()
			return { X: x + width / 2, Y: y + height / 2 }
		})(`+marks+`[2])`, &place)
		tap := func() {
			finger := []any{map[string]any{"x": place.X, "y": place.Y}}
			d.page.Command(t, "Input.dispatchTouchEvent",
				map[string]any{"type": "touchStart", "touchPoints": finger}, nil)
			d.page.Command(t, "Input.dispatchTouchEvent",
				map[string]any{"type": "touchEnd", "touchPoints": []any{}}, nil)
		}
		const tip = `document.querySelector(".tip .active")?.textContent.includes(" n = ")`
		d.page.Command(t, "Input.dispatchMouseEvent",
			map[string]any{"type": "mouseMoved", "x": place.X, "y": place.Y}, nil)
		d.page.Await(t, tip)
		d.page.Press(t, "Escape")
		d.page.Await(t, "!"+tip)
		d.page.Command(t, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": 0, "y": 0}, nil)
		before := d.text(t, "location.href")
		tap()
		d.page.Await(t, tip+" && location.href == "+strconv.Quote(before))
		tap()
		d.settled(t, "Answers")
	}
}

// rowsBehind returns the cells of a chart's table by the first one.
func (d *dashboard) rowsBehind(t *testing.T, chart string) map[string][]string {
	t.Helper()
	var cells [][]string
	d.page.Eval(t, fmt.Sprintf(`[...document.querySelectorAll('table[aria-label=%q] tbody tr')].map((tr) => `+
		`[...tr.cells].map((c) => c.textContent.trim()))`, chart), &cells)
	rows := map[string][]string{}
	for _, row := range cells {
		rows[row[0]] = row[1:]
	}
	return rows
}

func same(a, b *float64) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (m mark) String() string {
	text := fmt.Sprintf("%s %s = %g", m.Key, m.X, m.Value)
	for _, end := range []*float64{m.Low, m.High, m.N} {
		if end != nil {
			text += fmt.Sprintf(" %g", *end)
		}
	}
	return text
}
