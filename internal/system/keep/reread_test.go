package keep

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A competitor added to a running system is in every answer that landed before; in `make test-all` so is one that was
// added before the process was killed under the reread, once it runs again.
func TestACompetitorAddedTodayHasAHistory(t *testing.T) {
	t.Parallel()
	lines := testkit.Draws(100, 1500) // many are several pages of a reread, and enough to be killed under
	h := run.Installed(t)
	lumen := h.AddBrands(t, h.Organization.ID, run.LampsFile(t, 1))
	run.Must(t, h.Env, "import", run.Captured(t, lines), "--org", "acme", "--brand", "lumen")
	await := func(competitors ...int) { // seldom: after the kill, another process's lease on the brand has 30 s to go
		t.Helper()
		wait.Until(t, func() string { return run.Compared(t, h.Server, h.Key, 0, lumen, lines, competitors...) })
	}
	await(1)

	const add = "INSERT INTO public.competitors (brand_id, name, domains) VALUES ($1, $2, ARRAY[$3])"
	h.Edit(t, add, lumen, run.Lamps[2], run.DomainOf(2))
	await(1, 2)
	finished(t, h.Server, h.Env, int64(lines))
	if testkit.All {
		killedUnderReread(t, h, func() {
			h.Edit(t, add, lumen, run.Lamps[3], run.DomainOf(3))
		})
		await(1, 2, 3)
		finished(t, h.Server, h.Env, int64(lines))
	}

	var wrong, texts uint64
	if err := h.Warehouse.QueryRow(t.Context(), "SELECT (SELECT countIf(s != 1) FROM (SELECT sum(sign) AS s FROM "+
		"answers GROUP BY id)), (SELECT countIf(text != '') FROM answers)").Scan(&wrong, &texts); err != nil {
		t.Fatal(err)
	}
	if wrong != 0 || texts != uint64(lines) {
		t.Errorf("%d answers do not stand once, %d texts are kept; want 0 and %d", wrong, texts, lines)
	}
}

// killedUnderReread adds a competitor, kills the process once a correction has landed, and starts it again.
func killedUnderReread(t *testing.T, h *run.Installation, add func()) {
	t.Helper()
	rows := func() (n uint64) {
		if err := h.Warehouse.QueryRow(t.Context(), "SELECT count() FROM answers").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := rows()
	add()
	wait.Until(t, func() string {
		if rows() == before {
			return "no correction lands"
		}
		return ""
	})
	if status := h.Stop(t, syscall.SIGKILL); status != -1 {
		t.Errorf("all ended with status %d before it was killed:\n%s", status, h.Log)
	}
	h.Start(t)
}

// finished waits until the command says that everything is read again.
func finished(t *testing.T, s *run.Server, env []string, answers int64) {
	t.Helper()
	wait.Until(t, func() string {
		text := run.Must(t, env, "reread", "--list", "--json")
		var state postgres.RereadState
		if err := json.Unmarshal([]byte(text), &state); err != nil || state.Organization != "acme" ||
			state.Brand != "lumen" {
			t.Fatalf("reread --list --json printed %q: %v", text, err)
		}
		if state.State != "done" || state.Done < answers || state.LeftOver != 0 {
			return text
		}
		return ""
	})
}

func TestRereadIsAskedFor(t *testing.T) {
	t.Parallel()
	h := run.Install(t, nil)
	env := h.Env
	other, _ := h.Organize(t, "other")
	h.AddBrands(t, h.Organization.ID, run.LampsFile(t, 2))
	h.AddBrands(t, other.ID, run.LampsFile(t, 2))
	asked := run.Must(t, env, "reread", "--org", "acme", "--brand", "lumen", "--from", "2026-03-01", "--json")
	var state postgres.RereadState
	if err := json.Unmarshal([]byte(asked), &state); err != nil || state.Organization+"/"+state.Brand != "acme/lumen" ||
		state.State != "waiting" {
		t.Errorf("asked for one brand: %s, %v", asked, err)
	}
	if list := run.Must(t, env, "reread", "--list", "--org", "other",
		"--json"); strings.Count(list, `"organization":"other"`) != 2 || strings.Contains(list, "acme") {
		t.Errorf("the list of other: %s", list) // what making its brands has queued
	}
	if list := run.Must(t, env, "reread"); strings.Count(list, "waiting") != 4 ||
		!strings.HasPrefix(list, "ORGANIZATION") {
		t.Errorf("asked for all: %s", list)
	}
	for args, want := range map[string]string{
		"reread --brand lumen":                     "--org",
		"reread --from yesterday":                  "2026-03-01",
		"reread --from 2026-03-02 --to 2026-03-01": "is after",
		"reread --list --to 2026-03-01":            "--list",
	} {
		if r := run.ToEnd(t, env, "", strings.Fields(args)...); r.Status != run.ExitUsage ||
			!strings.Contains(r.Stderr, want) {
			t.Errorf("%s: status %d, %s; want %d and %q", args, r.Status, r.Stderr, run.ExitUsage, want)
		}
	}
	for args, want := range map[string]string{
		"reread --org acme --brand none":                  `brand "none" not found: want one of glow, lumen`,
		"reread --org none":                               `organization "none" not found: want one of acme, other`,
		"key create --org acme --user none --name ci":     `user "none" not found: want one of ana@acme.example`,
		"key revoke 00000000-0000-0000-0000-000000000000": "not found; `answerscope key list` prints them",
	} {
		if r := run.ToEnd(t, env, "", strings.Fields(args)...); r.Status != run.ExitFailed ||
			!strings.HasSuffix(r.Stderr, want+"\n") {
			t.Errorf("%s: status %d, %s; want %d and %q", args, r.Status, r.Stderr, run.ExitFailed, want)
		}
	}
}
