package topics_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/queryapi/topics"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Proposals are made of the brand's own names, topics and prompts, change nothing, and are for its organization alone.
func TestProposalsOfABrand(t *testing.T) {
	t.Parallel()
	control := store.ControlPlane(t)
	db := store.OpenControlPlane(t, control)
	var organizations [2]postgres.Organization
	var brands [2]postgres.Brand
	for i, name := range []string{"Acme", "Other"} {
		var err error
		if organizations[i], err = db.AddOrganization(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
		brand := postgres.NewBrand{
			Name: name, Slug: "brand",
			Competitors: []postgres.NewCompetitor{{Name: "Globex", Aliases: []string{"Big Globe"}}},
		}
		if brands[i], _, err = db.AddBrand(t.Context(), organizations[i].ID, brand); err != nil {
			t.Fatal(err)
		}
	}
	for text, topic := range map[string]string{
		"Which anvil should I buy?": "Heavy things", "best air fryer": "", "Which kettle is good?": "Kettles",
	} {
		if _, err := db.AddPrompt(t.Context(), brands[0].ID,
			postgres.TrackedPrompt{Text: text, Topic: topic, Set: "Prompts", Samples: 1}); err != nil {
			t.Fatal(err)
		}
	}
	superuser, err := pgx.Connect(t.Context(), control.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer superuser.Close(t.Context())
	if _, err := superuser.Exec(t.Context(),
		"UPDATE public.topics SET is_active = false WHERE name = 'Kettles'"); err != nil {
		t.Fatal(err)
	}
	url := serve(t, db)
	long := `"x"`
	for i := range 999 {
		kind := []string{"air fryer", "rice cooker", "bread oven"}[i%3]
		words := strings.Fields(strings.Repeat(fmt.Sprintf(" w%dw", i), 120))
		for n := range words {
			words[n] += fmt.Sprint(n) // all are different
		}
		long += fmt.Sprintf(",%q", kind+" for "+strings.Join(words, " "))
	}
	const texts = `["best anvil", "air fryer or Big Globe", "Globex", "best air fryer"]`
	for name, test := range map[string]struct {
		organization uuid.UUID
		body         string
		status       int
		want         string
	}{
		"ours": {organizations[0].ID, `{"brandId":"` + brands[0].ID.String() + `","prompts":` + texts + `}`, 200,
			`{"topics":["Heavy things","air fryer","","air fryer"]}`},
		"inactive": {organizations[0].ID,
			`{"brandId":"` + brands[0].ID.String() + `","prompts":["best kettles"]}`, 200, `{"topics":[""]}`},
		"nothing": {organizations[0].ID, `{"brandId":"` + brands[0].ID.String() + `"}`, 200, `{"topics":[]}`},
		"their own": {organizations[1].ID, `{"brandId":"` + brands[1].ID.String() + `","prompts":["best anvil"]}`, 200,
			`{"topics":[""]}`},
		"not theirs": {organizations[1].ID, `{"brandId":"` + brands[0].ID.String() + `","prompts":` + texts + `}`, 404,
			`{"error":"no such brand"}`},
		"unknown": {organizations[0].ID,
			`{"brandId":"` + uuid.Must(uuid.NewV4()).String() + `","prompts":` + texts + `}`, 404,
			`{"error":"no such brand"}`},
		"no brand": {organizations[0].ID, `{}`, 404, `{"error":"no such brand"}`},
		"no id": {organizations[0].ID, `{"brandId":"brand","prompts":` + texts + `}`, 400,
			`{"error":"want {\"brandId\": UUID of a brand, \"prompts\": [at most 1000 texts]}"}`},
		"no JSON": {organizations[0].ID, `brand`, 400, "at most 1000 texts"},
		"too many": {organizations[0].ID,
			fmt.Sprintf(`{"brandId":%q,"prompts":["x"%s]}`, brands[0].ID, strings.Repeat(`,"x"`, 1000)), 400,
			"at most 1000 texts"},
		"many bytes": {organizations[0].ID, fmt.Sprintf(`{"brandId":%q,"prompts":[%s]}`, brands[0].ID, long), 200,
			`{"topics":["","air fryer","rice cooker","bread oven",`},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
				url+"/proposals?organization="+test.organization.String(), strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer x") // whom the server is told by the address
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.status || !strings.Contains(string(text), test.want) {
				t.Errorf("%d %s %v, want %d %s", response.StatusCode, text, err, test.status, test.want)
			}
		})
	}
	if names, err := db.Topics(t.Context(), brands[0].ID); err != nil || fmt.Sprint(names) != "[Heavy things]" {
		t.Errorf("then the topics are %q: %v", names, err)
	}
}

// serve serves the proposals to users of the organization that a request names.
func serve(t *testing.T, db *postgres.DB) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	surface := server.Mount(httpd.Surface{Prefix: "/proposals", BodyLimit: topics.BodyLimit})
	topics.Mount(surface, db, func(c *fiber.Ctx) error {
		caller := identity.Identity{OrganizationID: uuid.FromStringOrNil(c.Query("organization"))}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	})
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}
