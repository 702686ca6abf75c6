package imports_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// A line of a month whose raw answers have expired is refused, with the month that would be right beside it; and so is
// a record that was made already.
func TestLinesOfFrozenMonthsAreRefused(t *testing.T) {
	e := newEnvironment(t)
	stop, err := e.db.LockSinksExclusive(t.Context(), 0, time.Second)
	e.must(err)
	_, err = stop.Freeze(t.Context(), event.TopicAnswers, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	e.must(err)
	e.must(stop.Release())
	in := e.importer().Limit(0, 2)
	late := strings.Replace(line(1), "2026-02-", "2026-01-", 1)
	summary, err := in.Import(t.Context(),
		strings.NewReader(line(1)+"\n"+late+"\n"+line(2)+"\n"+strings.Replace(late, "2026", "2025", 1)), e.brands, nil)
	e.must(err)
	if summary.Imported != 4 || summary.Refused != 2 || summary.Refusals[0].Line != 2 ||
		summary.Refusals[1].Line != 4 ||
		!strings.HasPrefix(summary.Refusals[0].Reason,
			"answered_at 2026-01-02T08:00:01Z: raw answers of that month have expired") {
		t.Errorf("%+v", summary)
	}
	made := e.onLog()[0]
	made.AnsweredAt = event.At(made.AnsweredAt.AddDate(0, -1, 0))
	made.ID[0]++
	summary, err = in.Append(t.Context(), slices.Values([]event.Answer{made}))
	e.must(err)
	if summary.Imported != 0 || summary.Refused != 1 {
		t.Errorf("%+v", summary)
	}
}

// A run without an answer that was exported can be imported.
func TestGivenUpRunIsImported(t *testing.T) {
	e := newEnvironment(t)
	in := e.importer()
	const run = `{"platform":"openai","prompt":"p","answered_at":"2026-02-01T08:00:00.000Z","text":"",` +
		`"citations":[],"products":[],"given_up":"timeout","given_up_error":"no answer in 90 s"}`
	wrong := []string{
		strings.Replace(run, `"timeout"`, `"tired"`, 1), strings.Replace(run, `"text":""`, `"text":"x"`, 1),
	}
	summary, err := in.Import(t.Context(), strings.NewReader(run+"\n"+strings.Join(wrong, "\n")), e.brands[:1], nil)
	e.must(err)
	if summary.Imported != 1 || summary.Refused != 2 || !strings.Contains(summary.Refusals[0].Reason, "want one of") {
		t.Errorf("%+v", summary)
	}
	a := e.onLog()[0]
	if a.GivenUp == nil || a.GivenUp.Class != "timeout" || a.GivenUp.Error != "no answer in 90 s" || a.Text != "" {
		t.Errorf("%+v", a)
	}
}
