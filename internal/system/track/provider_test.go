package track

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/system/run"
)

// Without an organization the list needs no engine; no list shows a key.
func TestProvidersOfTheEnvironmentAreListed(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_DATA_DIR=" + t.TempDir() + "/none",
		"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=key-hunter2-0123456789",
		"ANSWERSCOPE_PLATFORM_OXYLABS_API_KEY=me:hunter2"}
	table := run.Must(t, env, "provider", "list")
	for _, want := range []string{"openai", "environment", "gpt-5.4", "2.50, 15 USD", "2026-05-04",
		"500 requests and 500000 tokens a minute, 50 at a time",
		"unavailable", "ANSWERSCOPE_PLATFORM_MISTRAL_API_KEY is missing: want the API key of an account at Mistral",
		"simulator-shopping", "none needed", "not known"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if strings.Contains(table, "hunter2") {
		t.Errorf("shows a key:\n%s", table)
	}
	for _, row := range []string{
		`google-ai-mode +oxylabs \(environment\) +1\.6 USD per 1000 captures +\S+ +300 requests`,
		`bing-copilot +unavailable *$`, `oxylabs +environment +300 requests .*`, `cloro +unavailable .*`,
	} {
		if !regexp.MustCompile("(?m)^" + row).MatchString(table) {
			t.Errorf("the table has no row %s:\n%s", row, table)
		}
	}
}

// A key of an organization is set from stdin, listed by its end, encrypted anew, and removed.
func TestAnOrganizationHasKeysOfItsOwn(t *testing.T) {
	t.Parallel()
	env := run.Install(t, nil, "ANSWERSCOPE_SECRET_KEYS=k1:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=").Env
	const key = "sk-hunter2-0123456789wxyz"
	if r := run.ToEnd(t, env, key+"\n", "provider", "set", "openai", "--org", "acme"); r.Status != run.ExitDone ||
		strings.Contains(r.Stdout+r.Stderr, "hunter2") {
		t.Fatalf("set: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	listed := func() (v tracking.View) {
		first, _, _ := strings.Cut(run.Must(t, env, "provider", "list", "--org", "acme", "--json"), "\n")
		if err := json.Unmarshal([]byte(first), &v); err != nil || strings.Contains(first, "hunter2") {
			t.Fatalf("%s: %v", first, err)
		}
		return v
	}
	if v := listed(); v.Platform != "openai" || !v.Available || v.KeyFrom != "organization" || v.KeyEnd != "wxyz" {
		t.Errorf("listed %+v", v)
	}
	if out := run.Must(t, env, "secrets", "rotate"); out != "1 secrets encrypted" {
		t.Errorf("rotate: %s", out)
	}
	if log := run.Must(t, env, "access"); !strings.Contains(log, "provider key set") ||
		strings.Contains(log, "hunter2") {
		t.Errorf("audit log:\n%s", log)
	}
	run.Must(t, env, "provider", "remove", "openai", "--org", "acme")
	if v := listed(); v.Available || v.KeyFrom != "" {
		t.Errorf("after remove: %+v", v)
	}
	for args, status := range map[string]int{
		"remove openai": run.ExitFailed, "set simulator": run.ExitUsage, "set nowhere": run.ExitFailed,
	} {
		if r := run.ToEnd(t, env, "",
			append([]string{"provider"}, append(strings.Fields(args), "--org", "acme")...)...); r.Status != status ||
			r.Stdout != "" {
			t.Errorf("%s: status %d, %s", args, r.Status, r.Stderr)
		}
	}
}

// The limits of an account come from the organization, the environment or the platform, each for itself.
func TestAnOrganizationHasLimitsOfItsOwn(t *testing.T) {
	t.Parallel()
	i := run.Install(t, nil, "ANSWERSCOPE_PLATFORM_OPENAI_LIMITS=requests=900,in-flight=80")
	i.Organize(t, "other")
	env := i.Env
	for _, c := range []struct{ args, want string }{
		{"openai --org acme", "openai: 900 requests and 500000 tokens a minute, 80 at a time (requests: " +
			"environment, tokens: description, at a time: environment)"},
		{"openai --org acme --requests 5000 --tokens 2000000", "openai: 5000 requests and 2000000 tokens a minute, " +
			"80 at a time (requests: organization, tokens: organization, at a time: environment)"},
		{"openai --org other", "openai: 900 requests and 500000 tokens a minute, 80 at a time (requests: " +
			"environment, tokens: description, at a time: environment)"},
		{"openai --org acme --tokens 0 --in-flight 7 --requests 6",
			"openai: 6 requests a minute, 7 at a time (organization)"},
		{"simulator --org acme --in-flight 3",
			"simulator: 3 at a time (requests: description, tokens: description, at a time: organization)"},
		{"openai --org acme --reset", "openai: 900 requests and 500000 tokens a minute, 80 at a time (requests: " +
			"environment, tokens: description, at a time: environment)"},
	} {
		if got := run.Must(t, env,
			append([]string{"provider", "limits"}, strings.Fields(c.args)...)...); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.args, got, c.want)
		}
	}
	if log := run.Must(t, env, "access"); strings.Count(log, "provider limits set") != 4 {
		t.Errorf("audit log:\n%s", log)
	}
	for args, status := range map[string]int{
		"openai --org acme --requests 0": run.ExitUsage, "openai --org acme --in-flight 0": run.ExitUsage,
		"openai --org acme --tokens=-1":        run.ExitUsage,
		"openai --org acme --requests 1000001": run.ExitUsage, "openai --org acme --requests many": run.ExitUsage,
		"openai --org acme --reset --tokens 5":   run.ExitUsage,
		"google-ai-mode --org acme --requests 5": run.ExitUsage, "google-ai-mode --org acme": run.ExitUsage,
		"openai --requests 5": run.ExitUsage, "nowhere --org acme --requests 5": run.ExitFailed,
		"openai --org nowhere --requests 5": run.ExitFailed,
	} {
		if r := run.ToEnd(t, env, "",
			append([]string{"provider", "limits"}, strings.Fields(args)...)...); r.Status != status || r.Stdout != "" ||
			!strings.Contains(r.Stderr, "want") && status == run.ExitUsage && strings.Contains(args, "--org") &&
				!strings.Contains(args, "many") {
			t.Errorf("%s: status %d, %s", args, r.Status, r.Stderr)
		}
	}
	wrong := []string{"ANSWERSCOPE_DATA_DIR=" + t.TempDir(), "ANSWERSCOPE_PLATFORM_OPENAI_LIMITS=requests=0"}
	if r := run.ToEnd(t, wrong, "", "provider", "list"); r.Status != run.ExitUsage ||
		!strings.Contains(r.Stderr, "want requests=1 to 1000000 (a minute)") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
}
