package first

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Everything that a person edits can be edited by commands, and has the form that /rest/v1 and a file would give it.
func TestBrandsCompetitorsAndPromptsByCommands(t *testing.T) {
	t.Parallel()
	h := run.Install(t, nil)
	h.Organize(t, "other")
	env := h.Env
	of := []string{"--org", "acme", "--brand", "lumen"}
	with := func(args ...string) []string { return append(args, of...) }

	id, slug, _ := strings.Cut(run.Must(t, env, "brand", "add", "Lumen", "--org", "acme",
		"--domain", "https://www.Lumen.example/shop", "--alias", "Lumen Lamps"), " ")
	if slug != "lumen" {
		t.Fatalf("brand add printed %s %s", id, slug)
	}
	run.Must(t, env, "brand", "edit", "lumen", "--org", "acme", "--name", "Lumen AG", "--domain", "münchen.example",
		"--domain", "lumen.example", "--remove-alias", "Lumen Lamps", "--alias", "Lumen, Inc.", "--no-active")
	want := `{"id":"` + id + `","slug":"lumen","name":"Lumen AG","aliases":["Lumen, ` +
		`Inc."],"domains":["lumen.example","xn--mnchen-3ya.example"],"is_active":false}`
	if got := run.Must(t, env, "brand", "list", "--org", "acme", "--json"); got != want {
		t.Errorf("brand list: %s\nwant %s", got, want)
	}
	// a client may have written it
	run.Must(t, env, "brand", "edit", "lumen", "--org", "acme", "--remove-domain", "www.münchen.example",
		"--remove-domain", "co.uk")

	run.Must(t, env, with("competitor", "add", "Raye", "--domain", "raye.example")...)
	run.Must(t, env,
		with("competitor", "edit", "Raye", "--name", "Raye Inc", "--domain", "shop.raye.example",
			"--remove-domain", "RAYE.example", "--alias", "Raye")...)
	if got := run.Must(t, env,
		with("competitor", "list", "--json")...); !strings.HasSuffix(got,
		`"name":"Raye Inc","aliases":["Raye"],"domains":["shop.raye.example"]}`) {
		t.Errorf("competitor list: %s", got)
	}

	lamp := run.Must(t, env,
		with("prompt", "add", "Which lamp?", "--topic", "Lamps", "--platform", "openai", "--samples", "2",
			"--no-branded")...)
	run.Must(t, env,
		with("prompt", "edit", lamp, "--topic", "Light", "--set", "Ours", "--platform", "", "--region", "us",
			"--region", "gb", "--samples", "3", "--branded", "--no-active")...)
	var listed postgres.TrackedPrompt
	if err := json.Unmarshal([]byte(run.Must(t, env, with("prompt", "list", "--json")...)), &listed); err != nil {
		t.Fatal(err)
	}
	if listed.ID.String() != lamp || listed.Topic != "Light" || listed.Set != "Ours" || listed.Samples != 3 ||
		listed.IsActive || !*listed.IsBranded ||
		len(listed.Platforms) > 0 || !slices.Equal(listed.Regions, []string{"us", "gb"}) {
		t.Errorf("prompt list: %+v", listed)
	}

	for _, add := range []struct{ flags, topic, said string }{
		{"", "", "topic: none (proposed: Light; --propose-topic sets it, --topic NAME another)\n"},
		{"--propose-topic", "Light", "topic: Light (proposed; --topic NAME chooses another)\n"},
		{"--propose-topic --topic Desks", "Desks", ""},
	} {
		r := run.ToEnd(t, env, "",
			with(append([]string{"prompt", "add", "best reading light", "--json"}, strings.Fields(add.flags)...)...)...)
		var prompt postgres.TrackedPrompt
		if err := json.Unmarshal([]byte(r.Stdout), &prompt); err != nil || r.Status != run.ExitDone ||
			prompt.Topic != add.topic || !strings.HasSuffix(r.Stderr, add.said) ||
			strings.Contains(r.Stderr, "topic:") != (add.said != "") {
			t.Errorf("prompt add %s: status %d, %s%s%v", add.flags, r.Status, r.Stdout, r.Stderr, err)
		}
		run.Must(t, env, with("prompt", "remove", prompt.ID.String())...)
	}

	run.Must(t, env, with("brand", "platform", "add", "openai", "--model", "gpt-5", "--frequency", "weekly")...)
	run.Must(t, env, with("brand", "platform", "edit", "openai", "--model", "gpt-5", "--frequency", "monthly",
		"--no-enabled")...)
	want = `{"platform":"openai","model":"gpt-5","check_frequency":"monthly","is_enabled":false,` +
		`"last_checked_at":null,"next_check_at":null}`
	if got := run.Must(t, env, with("brand", "platform", "list", "--json")...); got != want {
		t.Errorf("brand platform list: %s\nwant %s", got, want)
	}
	run.Must(t, env, "org", "edit", "acme", "--name", "Acme AG", "--time-zone", "Europe/Berlin")

	for said, args := range map[string][]string{
		`domain "co.uk": anybody may have`: {"brand", "add", "X", "--org", "acme",
			"--domain", "co.uk"},
		`brand "lumen" exists already`: {"brand", "add", "X", "--org", "acme", "--slug", "lumen"},
		`brand "lumen" not found: there is none yet`: {"brand", "edit", "lumen", "--org", "other",
			"--name", "X"},
		`competitor "Nova" not found: want one of Raye Inc`: with("competitor", "remove", "Nova"),
		"competitor is taken":                               with("competitor", "add", "Raye Inc"),
		"platform is taken": with("brand", "platform", "add", "openai",
			"--model", "gpt-5"),
		`platform "chatgpt": want one of openai, `:      with("brand", "platform", "add", "chatgpt"),
		"`answerscope brand platform list` prints them": with("brand", "platform", "remove", "openai"),
		`time zone "Mars" not recognized`:               {"org", "edit", "acme", "--time-zone", "Mars"},
		"`answerscope prompt list` prints them":         with("prompt", "remove", id),
		"--samples 11: want 1 to 10":                    with("prompt", "add", "x", "--samples", "11"),
		"add --yes if it should":                        {"brand", "remove", "lumen", "--org", "acme"},
	} {
		if r := run.ToEnd(t, env, "", args...); r.Status == run.ExitDone || !strings.Contains(r.Stderr, said) ||
			strings.Contains(r.Stderr, "SQLSTATE") {
			t.Errorf("%q: status %d, %s\nwant %s", args, r.Status, r.Stderr, said)
		}
	}

	run.Must(t, env, with("brand", "platform", "remove", "openai", "--model", "gpt-5")...)
	run.Must(t, env, with("prompt", "remove", lamp)...)
	run.Must(t, env, with("competitor", "remove", "Raye Inc")...)
	run.Must(t, env, "brand", "remove", "lumen", "--org", "acme", "--yes")
	if got := run.Must(t, env, "brand", "list", "--org", "acme"); strings.Contains(got, "lumen") {
		t.Errorf("brand list: %s", got)
	}
	if got := run.Must(t, env, "access", "--limit", "1",
		"--json"); !strings.Contains(got, `"action":"brand deleted","organization":"acme","subject":"lumen"`) {
		t.Errorf("the audit log lacks the brand's end: %s", got)
	}
}
