package system

import (
	"strings"
	"testing"
)

func TestHelpShowsACommandsOwnFlagsFirst(t *testing.T) {
	t.Parallel()
	all := must(t, nil, "import", "--help-all")
	own, shared := strings.Index(all, "--create="), strings.Index(all, "--data-dir=")
	if own < 0 || shared < own || !strings.Contains(all, "Settings of every command:") {
		t.Errorf("import --help-all: --create at %d, --data-dir at %d:\n%s", own, shared, all)
	}
	if help := must(t, nil, "import", "--help"); strings.Contains(help, "--data-dir=") || !strings.Contains(help, "--help-all") {
		t.Errorf("import --help:\n%s", help)
	}
	if r := run(t, nil, ""); r.status != exitUsage || !strings.Contains(r.stderr, "Commands:") || r.stdout != "" {
		t.Errorf("answerscope alone: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
}

// What does not exist is an error that lists what does, and speaks of no query.
func TestNotFoundListsWhatThereIs(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t)}
	none := run(t, env, "", "key", "list", "--org", "acme")
	must(t, env, "org", "add", "Acme")
	must(t, env, "user", "add", "ana@example.org", "--org", "acme")
	for _, c := range []struct {
		result
		want string
	}{
		{none, `organization "acme" not found: there is none yet; answerscope org add NAME adds one`},
		{run(t, env, "", "key", "list", "--org", "acm"), `organization "acm" not found: want one of acme`},
		{run(t, env, "", "pixel", "lumen", "--org", "acme"), `brand "lumen" not found: there is none yet; answerscope brand add NAME --org acme adds one`},
		{
			run(t, env, "", "key", "create", "--org", "acme", "--user", "bob@example.org", "--name", "n"),
			`user "bob@example.org" not found: want one of ana@example.org`,
		},
		{run(t, env, "", "org", "add", "Acme", "--slug", "acme"), `add organization "Acme": slug is taken`},
		{run(t, env, "", "status"), "nothing runs on "},
		{run(t, env, "", "all", "--listen", ":99999"), "99999"},
	} {
		if c.status == exitDone || !strings.Contains(c.stderr, c.want) || strings.Contains(c.stderr, "SQLSTATE") || strings.Contains(c.stderr, "query") {
			t.Errorf("status %d, %s\nwant %s", c.status, c.stderr, c.want)
		}
	}
}
