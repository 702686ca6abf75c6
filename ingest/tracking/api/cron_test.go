package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

const cronSecret = "wind"

// serveCron serves routes, and returns a function that asks them with the secret.
func serveCron(t *testing.T, mount func(*httpd.Server)) (ask func(method, path, body string) (int, string)) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.NewTextHandler(t.Output(), nil)),
		prometheus.NewRegistry())
	mount(server)
	t.Cleanup(testkit.Start(t, server.Run))
	return func(method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+cronSecret)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
}

// A payment provider's callback starts one brand, once for each of its events, whatever else the payload has. HEAD
// starts nothing: it did, at the web side's route.
func TestACallbackStartsItsBrandOnce(t *testing.T) {
	t.Parallel()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	var brands []postgres.Brand
	for _, name := range []string{"Lumen", "Other"} {
		organization, err := db.AddOrganization(t.Context(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		brand, _, err := db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		brands = append(brands, brand)
	}
	jobs, err := tracking.NewJobs(tracking.Parts{
		DB: db, Now: time.Now, ListPlatforms: func(context.Context, uuid.UUID) ([]tracking.Platform, error) {
			return nil, nil
		},
	}, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, jobs, tracking.NewSchedule(db, jobs, time.Now, prometheus.NewRegistry(), testkit.Log(t)), time.Now)
	ask := serveCron(t, func(server *httpd.Server) {
		s.MountCron(server, cronSecret)
		MountWebCron(server, cronSecret, s.StartDue)
	})
	lumen, other := brands[0].ID.String(), brands[1].OrganizationID.String()
	const none = `"brandsDue":0,"jobs":[],"skipped":[`
	skipped := none + `{"brandId":"` + lumen + `","reason":"it has no active prompt"}],`
	event := `{"id":"evt_1","object":"event","data":{"object":{"mode":"payment"}},"brand_id":"` + lumen + `"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"HEAD", "/api" + cronPath, "", 405, ""},
		{"HEAD", cronPath, "", 405, ""},
		{"POST", cronPath, `{"id":"evt_1","brand_id":null}`, 400, "brand_id: want a UUID, got null"},
		{"POST", cronPath, `{"id":"evt_1","brandId":"x"}`, 400, `brandId: want a UUID, got \"x\"`},
		{"POST", cronPath, `{"id":"evt_1","brand_id":"` + other + `"}`, 404, "no such brand"},
		{"POST", cronPath, `{"brand_id":"` + lumen + `","organization_id":"` + other + `"}`, 404, "no such brand"},
		{"POST", cronPath, `{"id":"` + strings.Repeat("e", 256) + `"}`, 400, "id: want the id of an event"},
		{"POST", cronPath, `id=evt_1`, 400, "body: want a JSON object"},
		{"POST", cronPath + "?brand_id=" + lumen, "", 400, "want no parameter"},
		{"POST", cronPath, event, 200, skipped + `"jobsEnqueued":0,"repeated":false`},
		{"POST", cronPath, event, 200, none + `],"jobsEnqueued":0,"repeated":true`},
		{"POST", "/api" + cronPath, strings.ReplaceAll(event, "brand_id", "brandId"), 200, `"repeated":true`},
		{"POST", cronPath, strings.Replace(event, "evt_1", "evt_2", 1), 200, skipped},
		{"POST", cronPath, strings.Replace(event, `"evt_1"`, "1", 1), 200, skipped},
		{"GET", "/api" + cronPath, "", 200, `"organizations":2,`},
	} {
		if status, body := ask(c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.path, c.body, status, body, c.status, c.want)
		}
	}
}

// What is not set is said: 404 named no reason.
func TestTheScheduleSaysWhatIsNotSet(t *testing.T) {
	t.Parallel()
	for want, mount := range map[string]func(*httpd.Server){
		"CRON_SECRET":    func(server *httpd.Server) { MountWebCron(server, "", nil) },
		"--tracking-url": func(server *httpd.Server) { MountWebCron(server, cronSecret, ForwardCron(cronSecret, "")) },
	} {
		status, body := serveCron(t, mount)("POST", "/api"+cronPath, "")
		if status != 503 || !strings.Contains(body, want) {
			t.Errorf("%d %s, want 503 and %s", status, body, want)
		}
	}
}
