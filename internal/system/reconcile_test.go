package system

import (
	"encoding/json"
	"strings"
	"testing"
)

// What is wrong with the flags is said before anything is started; what was compared is printed as one document.
func TestReconcileByHand(t *testing.T) {
	t.Parallel()
	env := install(t, nil).env
	must(t, env, "migrate") // makes the topics
	for flags, says := range map[string]string{
		"--brand lumen":                  "--brand needs --org",
		"--from 2026-13":                 `month "2026-13"`,
		"--from 2026-03 --to 2026-02":    "is after",
		"--from 2026-3-1 --to yesterday": "2026-3-1",
	} {
		r := run(t, env, "", append([]string{"reconcile"}, strings.Fields(flags)...)...)
		if r.status != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: status %d, %s", flags, r.status, r.stderr)
		}
	}
	for arguments, says := range map[string]string{"visits 2026-13": `month "2026-13"`, "visitors 2026-03": "answers", "visits": "month"} {
		r := run(t, env, "", append([]string{"recover"}, strings.Fields(arguments)...)...)
		if r.status != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("recover %s: status %d, %s", arguments, r.status, r.stderr)
		}
	}
	if got := must(t, env, "recover", "visits", "2026-03"); got != `{"read":0,"present":0,"recovered":0}` {
		t.Errorf("recovered of nothing: %s", got)
	}
	r := run(t, env, "", "reconcile", "--json", "--fix")
	var report struct {
		Compared *int
		Open     *int
		Findings []struct{}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.status != exitDone || report.Compared == nil || report.Open == nil || *report.Open != 0 || len(report.Findings) != 0 {
		t.Errorf("reconcile of nothing: status %d, %s%s, %v", r.status, r.stdout, r.stderr, err)
	}
	if r := run(t, env, "", "reconcile", "--org", "none"); r.status != exitFailed || !strings.Contains(r.stderr, "none") {
		t.Errorf("of an organization that there is none of: status %d, %s", r.status, r.stderr)
	}
}
