package people

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Links are made, listed and revoked by commands, with the rules of /api/shares.
func TestSharesByCommands(t *testing.T) {
	t.Parallel()
	h := run.Install(t, nil)
	env := append(h.Env, "ANSWERSCOPE_PUBLIC_URL=https://answers.example")
	run.Must(t, env, "brand", "add", "Lumen", "--org", "acme")
	address := run.Must(t, env, "share", "add", "lumen", "--org", "acme", "--title", "For Ann",
		"--screen", "overview,sources", "--filter", "last_days=30", "--filter", "platform=openai",
		"--embed", "https://a.example", "--expires", "2099-12-31")
	if !regexp.MustCompile(`^https://answers\.example/share/shr_[0-9A-Za-z]{36}$`).MatchString(address) {
		t.Errorf("share add printed %s", address)
	}
	if r := run.ToEnd(t, env, "plum-orbit-tacit-91\n", "share", "add", "lumen", "--org", "acme",
		"--password", "--expires", "never", "--json"); r.Status != run.ExitDone ||
		!strings.Contains(r.Stdout, `"url":"https://answers.example/share/shr_`) ||
		strings.Contains(r.Stdout+r.Stderr, "plum") {
		t.Errorf("with a password: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	for _, c := range []struct{ stdin, flags, want string }{
		{"", "--screen tracking", "screens: want some of"},
		{"", "--filter plattform=x", "platform"},
		{"", "--embed http://a.example", "embed_origins: want"},
		{"", "--expires soon", `--expires "soon": want a day such as`},
		{"", "--expires 2020-01-01", "expires_at: want a time to come"},
		{"x\n", "--password", "password: want at least 8 characters"},
		{"", "--password", "want the password as the first line of stdin"},
	} {
		args := append([]string{"share", "add", "lumen", "--org", "acme"}, strings.Fields(c.flags)...)
		if r := run.ToEnd(t, env, c.stdin, args...); r.Status == run.ExitDone || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("share add %s: status %d, %s, want %s", c.flags, r.Status, r.Stderr, c.want)
		}
	}
	read := func() (list []postgres.ListedShareLink) {
		t.Helper()
		for line := range strings.Lines(run.Must(t, env, "share", "list", "--org", "acme", "--json")) {
			var link postgres.ListedShareLink
			if err := json.Unmarshal([]byte(line), &link); err != nil {
				t.Fatal(err, line)
			}
			list = append(list, link)
		}
		return list
	}
	list := read()
	if len(list) != 2 || list[0].Title != "For Ann" || list[0].Filters["last_days"] != "30" ||
		list[0].Filters["platform"] != "openai" || strings.Join(list[0].Screens, " ") != "overview sources" ||
		!list[0].ExpiresAt.Equal(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) || list[1].Title != "Lumen" ||
		!list[1].HasPassword || list[1].ExpiresAt != nil {
		t.Fatalf("share list: %+v", list)
	}
	run.Must(t, env, "share", "revoke", list[0].ID.String())
	if list := read(); list[0].RevokedAt == nil || list[1].RevokedAt != nil {
		t.Errorf("after one was revoked: %+v", list)
	}
	if got := run.Must(t, env, "share", "list", "--org", "acme"); !strings.Contains(got, "revoked") ||
		!strings.Contains(got, "never used") {
		t.Errorf("share list: %s", got)
	}
	for _, id := range []string{"x", "01890a5d-ac96-774b-bcce-b302099a8057"} {
		if r := run.ToEnd(t, env, "", "share", "revoke", id); r.Status == run.ExitDone ||
			!strings.Contains(r.Stderr, "share list") {
			t.Errorf("share revoke %s: status %d, %s", id, r.Status, r.Stderr)
		}
	}
}
