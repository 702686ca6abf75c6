package dashboard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Where an overview is not always shown, Overview and Answers say how often it was, as the API counts it, and the list
// has a mark for each that was not, which leads to what is known of it. Where all were shown they say so, and nothing
// of a platform that always answers.
func (d *dashboard) saysWhatWasNotShown(t *testing.T) {
	type totals struct {
		ResultCount, NotShown int
		ShownRateInterval     struct{ Low, High float64 }
	}
	var summary struct {
		Groups []struct {
			Key    string
			Totals totals
		}
	}
	d.ask(t, "visibility-summary?group_by=platform&brand_id="+d.brand, &summary)
	var overview totals
	for _, g := range summary.Groups {
		if g.Key == platform.SimulatorOverview {
			overview = g.Totals
		} else if g.Totals.NotShown != 0 {
			t.Errorf("%s was not shown: %+v", g.Key, g.Totals)
		}
	}
	text := fmt.Sprintf("overview shown in %d of %d captures (%v–%v%%)", overview.ResultCount,
		overview.ResultCount+overview.NotShown,
		overview.ShownRateInterval.Low, overview.ShownRateInterval.High)
	if overview.NotShown == 0 || overview.ResultCount == 0 {
		t.Fatalf("the demo has %s", text)
	}
	const filter = "?platform=" + platform.SimulatorOverview
	for _, at := range [][2]string{{"/brands/fernwood", "Overview"}, {"/brands/fernwood/answers" + filter, "Answers"}} {
		d.at(t, at[0], at[1])
		d.page.Await(t, fmt.Sprintf(`document.querySelector("main").textContent.split("overview shown in ").length `+
			`== 2 && document.querySelector("main").textContent.includes(%q)`, text))
	}
	d.click(t, text)
	d.settled(t, "Answers")
	d.page.Await(t, `location.search.includes("shown=all")`)
	var all struct{ Answers []struct{ Shown bool } }
	d.ask(t, "answers"+filter+"&sort=prompt&shown=all&brand_id="+d.brand, &all)
	shown := len(all.Answers)
	all.Answers = slices.DeleteFunc(all.Answers, func(a struct{ Shown bool }) bool { return a.Shown })
	d.page.Await(t, fmt.Sprintf(`[...document.querySelectorAll(".mark")].length == %d && `+
		`[...document.querySelectorAll(".mark")].filter((m) => m.textContent == "–" && m.title == `+
		`"not shown").length == %d`, shown, len(all.Answers)))
	d.page.Eval(t, `void [...document.querySelectorAll(".mark")].find((m) => m.textContent == "–").click()`, nil)
	d.page.Await(t, `document.querySelector("main").textContent.includes("showed no answer to this prompt") && `+
		`!document.querySelector(".text")`)

	d.at(t, "/brands/fernwood/answers?platform="+platform.Simulator, "Answers")
	d.page.Await(t, `!document.querySelector("main").textContent.includes("overview shown in ")`)
	d.at(t, "/brands/fernwood/sources"+filter, "Sources")
	d.page.Eval(t, `void ((ask) => { window.heal = () => window.fetch = ask; window.fetch = async (url, options) => {
		const response = await ask(url, options)
		const shown = /"notShown":\d+,"shownRatePct":[^,]+,"shownRateInterval":{[^}]+}/g
		const none = '"notShown":0,"shownRatePct":null,"shownRateInterval":null'
		return url.includes("/visibility-summary") ?
			new Response((await response.text()).replace(shown, none)) : response
	} })(window.fetch)`, nil)
	d.click(t, "Answers")
	d.page.Await(t, fmt.Sprintf(
		`document.querySelector("main").textContent.includes("overview shown in %[1]d of %[1]d captures. ")`,
		overview.ResultCount))
	d.page.Eval(t, "void heal()", nil)
}
