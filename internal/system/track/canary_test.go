package track

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// With ANSWERSCOPE_CANARY=on the panel is asked, and its 30 answers a model land; an operator sees its organization,
// and nobody else does, by /api/v1 or /rest/v1. Without the setting it is asked no more.
func TestTheCanaryPanel(t *testing.T) {
	t.Parallel()
	o := newOpenAI(t)
	i := run.Install(t, nil,
		append(o.settings(), "ANSWERSCOPE_ISSUER="+run.Issuer, "ANSWERSCOPE_JWT_SECRET="+run.Secret,
			"ANSWERSCOPE_ANON_KEY="+run.Anon)...)
	i.Env = append(i.Env, "ANSWERSCOPE_POSTGRES_GATEWAY_DSN="+i.SettingOf("ANSWERSCOPE_POSTGRES_DSN"))
	brand := i.BrandToTrack(t, "Lumen", 1)
	off := i.Env
	i.Env = append(i.Env, "ANSWERSCOPE_CANARY=on")
	i.Start(t)
	landed := func() (n uint64) {
		row := i.Warehouse.QueryRow(t.Context(), "SELECT toUInt64(sum(answers)) FROM answer_daily WHERE "+
			"organization_id = toUUID(?) AND platform = 'openai' AND model = 'gpt-5.4'",
			postgres.PanelOrganization.String())
		if err := row.Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	wait.For(t, "the panel's answers to land", func() bool { return landed() == 30 })
	if n := o.asked.Load(); n != 30 {
		t.Errorf("%d requests", n)
	}
	if list := run.Must(t, i.Env, "org", "list"); !strings.Contains(list, "canary-panel  Canary panel") {
		t.Errorf("org list: %s", list)
	}

	if _, list := run.Fetch(t, i.URL+"/api/v1/brands", i.Key); !strings.Contains(list, brand.ID.String()) ||
		strings.Contains(list, postgres.Panel.String()) {
		t.Errorf("brands: %s", list)
	}
	for _, path := range []string{"visibility-summary", "visibility-trend", "answers", "citations"} {
		if status, body := run.Fetch(t, i.URL+"/api/v1/"+path+"?brand_id="+postgres.Panel.String(),
			i.Key); status != 404 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	user, err := i.DB.UserByEmail(t.Context(), "ana@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	rest := func(path string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.URL+"/rest/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("apikey", run.Anon)
		request.Header.Set("Authorization", "Bearer "+run.TokenOf(t, user, nil))
		status, _, body := run.Exchange(t, request)
		return fmt.Sprint(status, " ", body)
	}
	if own := rest("brands?select=id"); own != `200 [{"id":"`+brand.ID.String()+`"}]` {
		t.Errorf("brands: %s", own)
	}
	for table, column := range map[string]string{
		"organizations": "id", "brands": "organization_id", "competitors": "organization_id",
		"prompts":     "organization_id",
		"prompt_sets": "organization_id", "brand_platforms": "organization_id", "tracking_jobs": "organization_id",
		"tracking_runs": "organization_id", "prompt_results": "organization_id",
	} {
		if rows := rest(table + "?" + column + "=eq." + postgres.PanelOrganization.String()); rows != "200 []" {
			t.Errorf("%s: %s", table, rows)
		}
	}

	if status := i.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("status %d", status)
	}
	i.Env = off
	i.Start(t)
	wait.For(t, "the panel to be off", func() bool {
		platforms, err := i.DB.TrackedPlatforms(t.Context(), postgres.Panel)
		return err == nil && len(platforms) == 1 && !platforms[0].IsEnabled
	})
	if n := landed(); n != 30 || o.asked.Load() != 30 {
		t.Errorf("%d answers, %d requests", n, o.asked.Load())
	}
}
