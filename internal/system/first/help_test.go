package first

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

func TestHelpShowsACommandsOwnFlagsFirst(t *testing.T) {
	t.Parallel()
	all := run.Must(t, nil, "import", "--help-all")
	own, shared := strings.Index(all, "--create="), strings.Index(all, "--data-dir=")
	if own < 0 || shared < own || !strings.Contains(all, "Settings of every command:") {
		t.Errorf("import --help-all: --create at %d, --data-dir at %d:\n%s", own, shared, all)
	}
	if help := run.Must(t, nil, "import", "--help"); strings.Contains(help, "--data-dir=") ||
		!strings.Contains(help, "--help-all") {
		t.Errorf("import --help:\n%s", help)
	}
	if r := run.ToEnd(t, nil, ""); r.Status != run.ExitUsage || !strings.Contains(r.Stderr, "Start here:\n  demo ") ||
		r.Stdout != "" {
		t.Errorf("answerscope alone: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
}

// What does not exist is an error that lists what does, and speaks of no query.
func TestNotFoundListsWhatThereIs(t *testing.T) {
	t.Parallel()
	h := run.Stores(t, nil)
	env := h.Env
	none := run.ToEnd(t, env, "", "key", "list", "--org", "acme")
	h.Organize(t, "acme")
	for _, c := range []struct {
		run.Result
		want string
	}{
		{none, `organization "acme" not found: there is none yet; answerscope org add NAME adds one`},
		{run.ToEnd(t, env, "", "key", "list", "--org", "acm"), `organization "acm" not found: want one of acme`},
		{run.ToEnd(t, env, "", "pixel", "lumen", "--org", "acme"),
			`brand "lumen" not found: there is none yet; answerscope brand add NAME --org acme adds one`},
		{
			run.ToEnd(t, env, "", "key", "create", "--org", "acme", "--user", "bob@example.org", "--name", "n"),
			`user "bob@example.org" not found: want one of ana@acme.example`,
		},
		{run.ToEnd(t, env, "", "org", "add", "Acme", "--slug", "acme"), `add organization "Acme": slug is taken`},
		{run.ToEnd(t, []string{"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t)}, "", "status"), "nothing runs on "},
		{run.ToEnd(t, env, "", "all", "--listen", ":99999"), "99999"},
	} {
		if c.Status == run.ExitDone || !strings.Contains(c.Stderr, c.want) || strings.Contains(c.Stderr, "SQLSTATE") ||
			strings.Contains(c.Stderr, "query") {
			t.Errorf("status %d, %s\nwant %s", c.Status, c.Stderr, c.want)
		}
	}
}
