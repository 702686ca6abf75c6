package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// startRequest reads the body of start and estimate: a brand of the caller's organization, and what to ask for it.
func (s *Server) startRequest(c *fiber.Ctx) (brand postgres.Brand, r tracking.Request, err error) {
	var body startBody
	if err := decode(c.BodyRaw(), &body); err != nil {
		return brand, r, err
	}
	if body.BrandID == nil {
		return brand, r, problem.New(problem.Invalid, "brandId: missing; want the UUID of a brand")
	}
	id, err := parseBrandID("brandId", *body.BrandID)
	if err != nil {
		return brand, r, err
	}
	if r, err = body.request(); err != nil {
		return brand, r, err
	}
	brand, err = s.findBrand(c, id)
	return brand, r, err
}

// parseBrandID reads the id in a field or parameter.
func parseBrandID(field, text string) (uuid.UUID, error) {
	id, err := uuid.FromString(text)
	if err != nil {
		return id, problem.New(problem.Invalid, "%s: want the UUID of a brand, got %.60q", field, text)
	}
	return id, nil
}

// findBrand finds a brand of the caller's organization.
func (s *Server) findBrand(c *fiber.Ctx, id uuid.UUID) (brand postgres.Brand, err error) {
	brand, err = s.db.Brand(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, id)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "no such brand")
	}
	return brand, err
}

type startBody struct {
	BrandID   *string  `json:"brandId"`
	Platforms []string `json:"platforms"`
	Models    []string `json:"models"`
	PromptIDs []string `json:"promptIds"`
	Regions   []string `json:"regions"`
	Samples   *int     `json:"samples"`
}

// maxNames limits the platforms, models and regions that a request may name: every prompt is compared with them.
const maxNames = 1000

// request checks the body, but for its brand.
func (b *startBody) request() (r tracking.Request, err error) {
	for field, names := range map[string][]string{"platforms": b.Platforms, "models": b.Models, "regions": b.Regions} {
		if len(names) > maxNames {
			return r, problem.New(problem.Invalid, "%s: want at most %d, got %d", field, maxNames, len(names))
		}
		if field != "regions" && slices.Contains(names, "") {
			return r, problem.New(problem.Invalid, "%s: want names, got an empty one", field)
		}
	}
	r = tracking.Request{Platforms: distinct(b.Platforms), Models: distinct(b.Models), Regions: distinct(b.Regions)}
	for i, text := range distinct(b.PromptIDs) {
		id, err := uuid.FromString(text)
		if err != nil {
			return r, problem.New(problem.Invalid, "promptIds[%d]: want the UUID of a prompt, got %.60q", i, text)
		}
		r.PromptIDs = append(r.PromptIDs, id)
	}
	for i, region := range r.Regions {
		if !tracking.IsRegion(region) {
			return r, problem.New(problem.Invalid, "regions[%d]: want a country in lower case (ISO 3166-1), "+
				"such as de or gb, or \"\" for none, got %.60q", i, region)
		}
	}
	if b.Samples != nil {
		if r.Samples = *b.Samples; r.Samples < 1 || r.Samples > tracking.MaxSamples {
			return r, problem.New(problem.Invalid, "samples: want 1 to %d, got %d", tracking.MaxSamples, r.Samples)
		}
	}
	return r, nil
}

// decode reads a JSON object. Its error names the field that is wrong.
func decode(text []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(target)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return problem.New(problem.Invalid, "body: want one JSON object, and nothing after it")
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if mismatch.Field == "" {
			return problem.New(problem.Invalid, "body: want a JSON object, got %s", mismatch.Value)
		}
		want := jsonType(mismatch.Type.String())
		return problem.New(problem.Invalid, "%s: want %s, got %s", mismatch.Field, want, mismatch.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return problem.New(problem.Invalid, "%s: there is no such field", strings.Trim(field, `"`))
	}
	return problem.New(problem.Invalid, "body: want a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonType describes the JSON that a Go type takes.
func jsonType(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list of strings"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	}
	return "a string"
}

// distinct drops repeated items, and keeps the order of the others.
func distinct(list []string) []string {
	var result []string
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		if !seen[item] {
			seen[item] = true
			result = append(result, item)
		}
	}
	return result
}

// intQuery reads a query parameter that is a whole number within bounds; an absent one is fallback.
func intQuery(c *fiber.Ctx, name string, fallback, lowest, highest int) (int, error) {
	text := c.Query(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < lowest || n > highest {
		return 0, problem.New(problem.Invalid, "%s: want a whole number from %d to %d, got %.60q",
			name, lowest, highest, text)
	}
	return n, nil
}
