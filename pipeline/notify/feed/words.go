package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/platformname"
	"github.com/answerscope/answerscope/internal/verdict"
)

// Content is the data of an event or a link that has a headline: the subject of its mail, the header in Slack.
type Content interface{ Headline() string }

// Read reads the data of a type of event that has a headline, or of a template.
func Read(name string, data []byte) (Content, error) {
	var content Content
	switch name {
	case VisibilityMoved:
		content = new(Moved)
	case PlatformDegraded, PlatformRecovered:
		content = &Degraded{IsOver: name == PlatformRecovered}
	case TrackingSkipped:
		content = new(Skipped)
	case EndpointDisabled:
		content = new(Disabled)
	case ReportWeekly:
		content = new(Report)
	case Confirm, Invite, ResetPassword, PasswordChanged, TestMail:
		content = &Link{Template: name}
	default:
		return nil, fmt.Errorf("no headline is known for %q", name)
	}
	if err := json.Unmarshal(data, content); err != nil {
		return nil, fmt.Errorf("read data of %s: %w", name, err)
	}
	return content, nil
}

// Headline is the week in a sentence.
func (r *Report) Headline() string {
	if r.Answers == 0 {
		return fmt.Sprintf("%s: no answers in week %s", r.Brand.Name, r.Week)
	}
	return marked(r.Simulated) + fmt.Sprintf("%s: named in %s, %s", r.Brand.Name, r.Overall.Text(), r.Overall.Words())
}

// marked returns what a headline of figures begins with if the simulator made some of their answers.
func marked(simulated bool) string {
	if simulated {
		return "Simulated: "
	}
	return ""
}

// Headline is the first move, and how many others there are.
func (m *Moved) Headline() string {
	if len(m.Moves) == 0 {
		return m.Brand.Name + " moved"
	}
	text := marked(m.Simulated) + m.Moves[0].Sentence(m.Brand)
	if others := len(m.Moves) + m.More - 1; others > 0 {
		text += fmt.Sprintf(" (and %d more)", others)
	}
	return text
}

// Sentence words one move of a brand.
func (m Move) Sentence(brand Brand) string {
	where := ""
	if m.Platform != nil {
		where = " on " + platformname.Of(*m.Platform)
	}
	joint := " "
	if m.Reach == verdict.ReachPrompts {
		joint = ": "
	}
	text := brand.Name + joint + m.Words() + where + ": named in " + m.Text()
	if m.From.Rate != nil {
		text += ", before in " + m.From.Percent()
	}
	return text
}

// Headline names the platform, and how much of a job it gave up.
func (d *Degraded) Headline() string {
	if d.IsOver {
		return platformname.Of(d.Platform) + " answers again"
	}
	var gaveUp int64
	for _, runs := range d.GaveUp {
		gaveUp += runs
	}
	return fmt.Sprintf("%s: %s of %s runs given up", platformname.Of(d.Platform), Count(gaveUp), Count(d.Runs))
}

// Headline names the brand that was not asked, and why.
func (s *Skipped) Headline() string { return s.Brand.Name + " is not asked: " + s.Why() }

// Why is the reason in words.
func (s Skipped) Why() string {
	why := map[string]string{
		"budget": "its budget is used up", "no_prompts": "it has no active prompts", "no_key": "a platform has no key",
	}
	return cmp.Or(why[s.Reason], s.Reason)
}

// Headline names the receiver and why it hears nothing more.
func (d *Disabled) Headline() string {
	why := map[string]string{"gone": "it answers 410 Gone", "failing": "no success for 5 days"}
	return fmt.Sprintf("Webhook to %s is switched off: %s", d.Endpoint.Host,
		cmp.Or(why[d.Endpoint.Reason], d.Endpoint.Reason))
}

// Percent writes the rate: 42.1 %.
func (f Figure) Percent() string {
	if f.Rate == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", *f.Rate)
}

// Range writes the interval: 39.8–44.4; "" without one.
func (f Figure) Range() string { return rangeText(f.Low, f.High) }

// Text writes the count and the interval: 61 of 90 captures (57.6–76.5 %).
func (o Overview) Text() string {
	text := Count(o.Shown) + " of " + Count(o.Captures) + " captures"
	if o.Low != nil && o.High != nil {
		text += " (" + rangeText(o.Low, o.High) + " %)"
	}
	return text
}

func rangeText(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return fmt.Sprintf("%.1f–%.1f", *low, *high)
}

// Text writes both: 42.1 % of answers (39.8–44.4).
func (f Figure) Text() string {
	text := f.Percent() + " of answers"
	if f.Range() != "" {
		text += " (" + f.Range() + ")"
	}
	return text
}

var words = map[string]string{
	verdict.WithinNoise: "no clear change", verdict.TooLittleData: "too little data",
	verdict.ModelChanged: "model or provider changed", verdict.BasketChanged: "prompts changed",
	verdict.NoRuns: "nothing to compare", verdict.FewDays: "too few days", verdict.FewPrompts: "too few prompts",
	verdict.Coarse: "a change of 20 points could be missed",
}

// Words writes the verdict: moved down, these prompts moved up, no clear change.
func (j Judged) Words() string {
	text := cmp.Or(words[j.Verdict], strings.ReplaceAll(j.Verdict, "_", " "))
	if j.Reach == verdict.ReachPrompts {
		text = "some prompts " + text
	}
	return text
}

// Why writes the reason for no verdict.
func (j Judged) Why() string { return cmp.Or(words[j.Reason], j.Reason) }

// Count writes a number with commas between thousands: 12,345.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
