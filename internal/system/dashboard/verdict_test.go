package dashboard

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/platformname"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A shownChange is a verdict as the API gives it.
type shownChange struct {
	Verdict, Reach, Reason, Dimension, Key, Name string
	Difference, Detectable                       *float64
	Interval                                     *struct{ Low, High float64 }
	Since                                        *struct {
		Day        string
		Difference float64
		Interval   *struct{ Low, High float64 }
	}
	DaysBefore int `json:"days_before"`
	DaysAfter  int `json:"days_after"`
}

type shownChanges struct {
	Change  shownChange
	Changes []shownChange
}

// Prompts are asked on two platforms for 60 days. A brand that nine of ten answers name, and for the last ten days
// three, has moved down; one that six of ten name has not; one that was asked on three days before the window has too
// few.
func (d *dashboard) saysWhetherItMoved(t *testing.T) {
	defer func(brand string) { d.brand = brand }(d.brand)
	falls := d.answered(t, "Falls "+hostile, "falls", 60, 12, 0.9, 0.3)
	steady := d.answered(t, "Steady", "steady", 60, 12, 0.6, 0.6)
	fresh := d.answered(t, "Fresh", "fresh", 33, testkit.Draws(1, 12), 0.6, 0.6)
	var noise, few shownChanges
	run.Must(t, d.env, "verdicts", "check")
	d.ask(t, "visibility-changes?brand_id="+steady, &noise)
	d.ask(t, "visibility-changes?brand_id="+fresh, &few)

	d.brand = falls
	const question = "visibility-changes?group_by=platform,topic,prompt,competitor&metric=mention_rate"
	var body, scores shownChanges // of the rate, of the score
	d.ask(t, question+"&brand_id="+falls, &body)
	d.ask(t, "visibility-changes?brand_id="+falls, &scores)
	if c := body.Change; c.Verdict != "moved_down" || c.Reach != "brand" || noise.Change.Verdict != "within_noise" ||
		few.Change.Reason != "few_days" {
		t.Fatalf("the verdicts are %+v, %+v and %+v", c, noise.Change, few.Change)
	}
	d.loads(t, "/brands/falls", "Overview")
	shown := d.text(t, `document.querySelector(".headline").textContent`)
	for _, want := range []string{sentence(t, body.Change), "The brand moved."} {
		if !strings.Contains(shown, want) {
			t.Errorf("the overview says %q, want %q", shown, want)
		}
	}
	d.page.Await(t, fmt.Sprintf(`document.querySelector(".certainty")?.textContent.includes(%q)`, d.falseAlarms(t)))
	d.tilesMoved(t, map[string]shownChange{"Mention rate": body.Change, "Visibility score": scores.Change})
	d.marksTheDay(t, scores.Change)
	d.listsWhatMoved(t, body.Changes)
	if got, want := strings.TrimPrefix(d.saved(t, "Download CSV: What moved"), "text/csv;charset=utf-8: "),
		d.csv(t, question+"&table=changes"); got != want {
		t.Errorf("what moved is saved as\n%.300s\nwant\n%.300s", got, want)
	}

	d.page.Eval(t, `void document.querySelector(".certainty summary").focus()`, nil)
	d.page.Press(t, "Enter")
	d.page.Await(t, `document.querySelector(".certainty details").open && `+
		`document.querySelector(".certainty details").innerText.includes("Within noise")`)
	d.hasNoFindings(t, "a verdict", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.isItself(t, "Overview")

	d.at(t, "/", "Brands")
	for name, want := range map[string]string{
		"Falls " + hostile: sentence(t, scores.Change), "Steady": sentence(t, noise.Change),
		"Fresh": sentence(t, few.Change),
	} {
		cell := fmt.Sprintf(`[...document.querySelectorAll('table[aria-label="Brands"] tbody tr')].find((tr) => `+
			`tr.cells[0].textContent == %q)?.cells[2]`, name)
		chip, title := d.text(t, cell+`.textContent`), d.text(t, cell+`.firstChild.title`)
		if word, found := strings.CutSuffix(want, " "+title); !found || !strings.Contains(chip, word) {
			t.Errorf("of %s the list says %q, %q, want %q", name, chip, title, want)
		}
	}
	d.page.Await(t, fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, d.falseAlarms(t)))
	d.hasNoFindings(t, "the brands' verdicts", looks[3], looks[2])
	d.page.Show(t, 1280, 900, "light")
	d.isItself(t, "Brands")
}

// answered adds a brand with answers of so many days to so many prompts, of which the shares before and since ten days
// ago name it.
func (d *dashboard) answered(t *testing.T, name, slug string, days, prompts int, before, since float64) (brand string) {
	t.Helper()
	brand, _, _ = strings.Cut(run.Must(t, d.env, "brand", "add", name, "--org", run.DemoSlug, "--slug", slug), " ")
	random := rand.New(rand.NewPCG(26, uint64(days)))
	today := time.Now().UTC().Truncate(24 * time.Hour)
	var lines strings.Builder
	count := 0
	for day := range days {
		share := before
		if day < 10 {
			share = since
		}
		for prompt := range prompts {
			for _, platform := range []string{"chatgpt-web", "gemini-web"} {
				text := "Nobody is to be named."
				if random.Float64() < share {
					text = name + " is good."
				}
				if err := json.NewEncoder(&lines).Encode(map[string]any{
					"platform": platform, "prompt": fmt.Sprintf("%s %d", hostile, prompt), "text": text,
					"answered_at": today.AddDate(0, 0, -day).Add(12 * time.Hour).Format(time.RFC3339),
				}); err != nil {
					t.Fatal(err)
				}
				count++
			}
		}
	}
	if r := run.ToEnd(t, d.env, lines.String(), "import", "-", "--org", run.DemoSlug,
		"--brand", slug); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	wait.Until(t, func() string {
		var found struct{ Total int }
		d.ask(t, "answers?limit=1&date_from="+today.AddDate(0, 0, -days).Format(time.DateOnly)+"&date_to="+
			today.Format(time.DateOnly)+"&brand_id="+brand, &found)
		if found.Total != count {
			return fmt.Sprintf("%d of %d answers have landed", found.Total, count)
		}
		return ""
	})
	return brand
}

// sentence is a verdict as the page writes it, up to its reach.
func sentence(t *testing.T, c shownChange) string {
	t.Helper()
	points := func(value float64) string { return number(math.Abs(value)) }
	switch {
	case c.Since != nil:
		day, err := time.Parse(time.DateOnly, c.Since.Day)
		if err != nil || c.Since.Interval == nil {
			t.Fatalf("a move has %+v, %v", c.Since, err)
		}
		chip, word, low, high := "Moved up", "Up", c.Since.Interval.Low, c.Since.Interval.High
		if c.Since.Difference < 0 {
			chip, word, low, high = "Moved down", "Down", high, low
		}
		return fmt.Sprintf("%s %s %s points since %s (%s to %s points).", chip, word, points(c.Since.Difference),
			day.Format("Jan 2, 2006"), points(low), points(high))
	case c.Verdict == "within_noise":
		return fmt.Sprintf("Within noise The difference is %s points (%s to %s); a change of %s points or more "+
			"would have been seen in 4 of 5 cases.",
			number(*c.Difference), number(c.Interval.Low), number(c.Interval.High), points(*c.Detectable))
	}
	return fmt.Sprintf("Too little data Comparable answers are on %d days before this window, and on %d days of it: "+
		"7 and 3 would be enough.", c.DaysBefore, c.DaysAfter)
}

// falseAlarms is how often a verdict is wrong, as the page writes it.
func (d *dashboard) falseAlarms(t *testing.T) string {
	t.Helper()
	var body struct {
		FalseAlarms struct {
			Brand *struct {
				Rate      float64 `json:"rate_pct"`
				Quarters  float64 `json:"row_quarters"`
				Low, High float64
			}
		} `json:"false_alarms"`
	}
	d.ask(t, "verdict-checks", &body)
	rate := body.FalseAlarms.Brand
	if rate == nil {
		t.Fatal("after a check there is no rate")
	}
	return fmt.Sprintf("A brand that did not change gets a false move in %s of 100 quarters (%s–%s), "+
		"measured nightly on this installation's answers, over %s quarters.",
		number(rate.Rate), number(rate.Low), number(rate.High), number(rate.Quarters))
}

// tilesMoved compares how far each figure moved, with its range.
func (d *dashboard) tilesMoved(t *testing.T, changes map[string]shownChange) {
	t.Helper()
	signed := func(value float64) string { return strings.Replace(number(value), "-", "−", 1) }
	for name, c := range changes {
		want := fmt.Sprintf("Moved down %s %s to %s", signed(c.Since.Difference), signed(c.Since.Interval.Low),
			signed(c.Since.Interval.High))
		if shown := d.text(t,
			fmt.Sprintf(`document.querySelector('figure[aria-label=%q]').textContent`,
				name)); !strings.Contains(shown, want) {
			t.Errorf("%s is %q, want %q", name, shown, want)
		}
	}
}

// marksTheDay looks for the day of a move in the trend, in its points and in the table behind it.
func (d *dashboard) marksTheDay(t *testing.T, c shownChange) {
	t.Helper()
	d.page.Await(t, `document.querySelector('figure[aria-label="Visibility trend"] line.flag.moved')`)
	var days []string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Visibility trend"] tbody tr')].filter((tr) => `+
		`tr.cells[4].textContent.includes("the score moved down")).map((tr) => tr.cells[0].textContent)`, &days)
	if !slices.Equal(days, []string{c.Since.Day}) {
		t.Errorf("the trend marks %q, want %s", days, c.Since.Day)
	}
	if points := d.text(t, `[...document.querySelectorAll('figure[aria-label="Visibility trend"] a')].filter((a) => `+
		`a.ariaLabel.endsWith(", the score moved down")).length + ""`); points != "1" {
		t.Errorf("%s points have the move", points)
	}
}

// listsWhatMoved compares the table of moves with the API's rows. Each leads to its answers.
func (d *dashboard) listsWhatMoved(t *testing.T, changes []shownChange) {
	t.Helper()
	d.page.Await(t, `document.querySelector('table[aria-label="What moved"]')`)
	var rows [][4]string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="What moved"] tbody tr')].map((tr) => `+
		`[...[...tr.cells].map((c) => c.textContent), tr.querySelector("a").search])`, &rows)
	changes = slices.DeleteFunc(slices.Clone(changes), func(c shownChange) bool { return c.Since == nil })
	if len(rows) != len(changes) || len(rows) < 3 {
		t.Fatalf("%d rows moved, want %d", len(rows), len(changes))
	}
	for i, c := range changes {
		if c.Dimension == "platform" {
			c.Name = platformname.Of(c.Key)
		}
		if r := rows[i]; r[0] != c.Name || r[1] != c.Dimension || !strings.HasPrefix(r[2], sentence(t, c)) ||
			!strings.Contains(r[3], c.Key) {
			t.Errorf("row %d is %q, want %+v", i, r, c)
		}
	}
}
