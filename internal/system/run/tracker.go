package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A Tracker is an installation with a brand and some prompts.
type Tracker struct {
	*Installation
	Brand postgres.Brand
	Key   string // with the scope
}

// TrackerOf adds a brand with prompts to an installation.
func TrackerOf(t *testing.T, i *Installation, prompts int) *Tracker {
	t.Helper()
	brand := i.BrandToTrack(t, "Lumen", prompts)
	user, err := i.DB.UserByEmail(t.Context(), "ana@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	return &Tracker{i, brand, i.MintKey(t, i.Organization.ID, user.ID, "tracking", auth.TrackingWrite)}
}

// BrandToTrack adds a brand with prompts.
func (i *Installation) BrandToTrack(t *testing.T, name string, prompts int) postgres.Brand {
	t.Helper()
	brand, _, err := i.DB.AddBrand(t.Context(), i.Organization.ID, postgres.NewBrand{
		Name: name, Domains: []string{strings.ToLower(name) + ".example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var texts []postgres.NewPrompt
	for n := range prompts {
		texts = append(texts, postgres.NewPrompt{Text: fmt.Sprintf("Which lamp is the best for room %d?", n)})
	}
	if _, err := i.DB.EnsurePrompts(t.Context(), brand.ID, texts); err != nil {
		t.Fatal(err)
	}
	return brand
}

// Ask sends a request with a credential, and decodes the answer.
func (k *Tracker) Ask(t *testing.T, credential, method, path, body string, into any) (status int, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, k.Server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+credential)
	status, header, text := Exchange(t, request)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s %s: %d %s: %v", method, path, status, text, err)
	}
	return status, header
}

// A Job is a tracking job as polling shows it.
type Job struct {
	Status   string
	Progress struct {
		Phase            string
		Completed, Total int
	}
	Result *struct {
		Answered, Cancelled, Repeats int
		GaveUp                       map[string]int
		Cost                         struct {
			Amount   float64
			Currency string
		}
		DegradedPlatforms []string
	}
	FailedReason *string
}
