package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// startBody is the body of start and estimate.
type startBody struct {
	BrandID   *string  `json:"brandId"`
	Platforms []string `json:"platforms"`
	Models    []string `json:"models"`
	PromptIDs []string `json:"promptIds"`
	Regions   []string `json:"regions"`
	Samples   *int     `json:"samples"`
}

// decode reads a body, and says which field is wrong.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return problem.New(problem.Invalid, "body: want one JSON object, and nothing after it")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return problem.New(problem.Invalid, "body: want a JSON object, got %s", wrong.Value)
		}
		return problem.New(problem.Invalid, "%s: want %s, got %s", wrong.Field, jsonName(wrong.Type.String()), wrong.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return problem.New(problem.Invalid, "%s: there is no such field", strings.Trim(field, `"`))
	}
	return problem.New(problem.Invalid, "body: want a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonName is a Go type as a client knows it.
func jsonName(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list of strings"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	}
	return "a string"
}

// asked is a body's request, of a brand of the caller's organization.
func (s *Server) asked(c *fiber.Ctx) (brand postgres.Brand, r tracking.Request, err error) {
	var body startBody
	if err := decode(c.Body(), &body); err != nil {
		return brand, r, err
	}
	if body.BrandID == nil {
		return brand, r, problem.New(problem.Invalid, "brandId: missing; want the UUID of a brand")
	}
	id, err := uuid.FromString(*body.BrandID)
	if err != nil {
		return brand, r, problem.New(problem.Invalid, "brandId: want the UUID of a brand, got %.60q", *body.BrandID)
	}
	r = tracking.Request{Platforms: distinct(body.Platforms), Models: distinct(body.Models), Regions: distinct(body.Regions)}
	if err := body.check(&r); err != nil {
		return brand, r, err
	}
	brand, err = s.db.Brand(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, id)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "no such brand")
	}
	return brand, r, err
}

// mostNames is how many platforms, models or regions a request may name: every prompt is compared with them.
const mostNames = 1000

// check checks what asked has not, and completes the request.
func (b *startBody) check(r *tracking.Request) error {
	for field, list := range map[string][]string{"platforms": b.Platforms, "models": b.Models, "regions": b.Regions} {
		if len(list) > mostNames {
			return problem.New(problem.Invalid, "%s: want at most %d, got %d", field, mostNames, len(list))
		}
		if field != "regions" && slices.Contains(list, "") {
			return problem.New(problem.Invalid, "%s: want names, got an empty one", field)
		}
	}
	for i, text := range distinct(b.PromptIDs) {
		id, err := uuid.FromString(text)
		if err != nil {
			return problem.New(problem.Invalid, "promptIds[%d]: want the UUID of a prompt, got %.60q", i, text)
		}
		r.PromptIDs = append(r.PromptIDs, id)
	}
	for i, region := range r.Regions {
		if !tracking.IsRegion(region) {
			return problem.New(problem.Invalid, "regions[%d]: want a country in lower case (ISO 3166-1), such as de or gb, or \"\" for none, got %.60q", i, region)
		}
	}
	if b.Samples != nil {
		if r.Samples = *b.Samples; r.Samples < 1 || r.Samples > tracking.MaxSamples {
			return problem.New(problem.Invalid, "samples: want 1 to %d, got %d", tracking.MaxSamples, r.Samples)
		}
	}
	return nil
}

// distinct is a list with each item once.
func distinct(list []string) []string {
	var kept []string
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		if !seen[item] {
			seen[item] = true
			kept = append(kept, item)
		}
	}
	return kept
}

// number reads a parameter that is a whole number within bounds.
func number(c *fiber.Ctx, name string, otherwise, least, most int) (int, error) {
	text := c.Query(name)
	if text == "" {
		return otherwise, nil
	}
	n := 0
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text || n < least || n > most {
		return 0, problem.New(problem.Invalid, "%s: want a whole number from %d to %d, got %.60q", name, least, most, text)
	}
	return n, nil
}
