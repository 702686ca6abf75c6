package keep

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

// What is wrong with the flags is said before anything is started; what was compared is printed as one document.
func TestReconcileByHand(t *testing.T) {
	t.Parallel()
	env := run.Install(t, nil).Env
	run.Must(t, env, "migrate") // makes the topics
	for flags, says := range map[string]string{
		"--brand lumen":                  "--brand needs --org",
		"--from 2026-13":                 `month "2026-13"`,
		"--from 2026-03 --to 2026-02":    "is after",
		"--from 2026-3-1 --to yesterday": "2026-3-1",
	} {
		r := run.ToEnd(t, env, "", append([]string{"reconcile"}, strings.Fields(flags)...)...)
		if r.Status != run.ExitUsage || !strings.Contains(r.Stderr, says) {
			t.Errorf("%s: status %d, %s", flags, r.Status, r.Stderr)
		}
	}
	for arguments, says := range map[string]string{
		"visits 2026-13": `month "2026-13"`, "visitors 2026-03": "answers", "visits": "month",
	} {
		r := run.ToEnd(t, env, "", append([]string{"recover"}, strings.Fields(arguments)...)...)
		if r.Status != run.ExitUsage || !strings.Contains(r.Stderr, says) {
			t.Errorf("recover %s: status %d, %s", arguments, r.Status, r.Stderr)
		}
	}
	if got := run.Must(t, env, "recover", "visits", "2026-03"); got != `{"read":0,"present":0,"recovered":0}` {
		t.Errorf("recovered of nothing: %s", got)
	}
	r := run.ToEnd(t, env, "", "reconcile", "--json", "--fix")
	var report struct {
		Compared *int
		Open     *int
		Findings []struct{}
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || r.Status != run.ExitDone ||
		report.Compared == nil || report.Open == nil || *report.Open != 0 || len(report.Findings) != 0 {
		t.Errorf("reconcile of nothing: status %d, %s%s, %v", r.Status, r.Stdout, r.Stderr, err)
	}
	if r := run.ToEnd(t, env, "", "reconcile", "--org", "none"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "none") {
		t.Errorf("of an organization that there is none of: status %d, %s", r.Status, r.Stderr)
	}
}
