package metrics

import (
	"context"
	"errors"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// brandsBody answers GET /api/v1/brands: the brands of the key's organization by name.
type brandsBody struct {
	Brands []brandBody `json:"brands"`
}

type brandBody struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Slug      string  `json:"slug"`
	Industry  string  `json:"industry"` // "" where unknown, as region
	Region    string  `json:"region"`
	CreatedAt instant `json:"created_at"`
}

func (a *API) brands(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	rows, err := a.db.Brands(ctx, caller.OrganizationID)
	if err != nil {
		return nil, err
	}
	body := brandsBody{make([]brandBody, len(rows))}
	for i, b := range rows {
		body.Brands[i] = brandBody{b.ID.String(), b.Name, b.Slug, b.Industry, b.Region, instant(b.CreatedAt)}
	}
	return body, nil
}

// errNoBrand is also the answer for another organization's brand.
var errNoBrand = problem.New(problem.Missing,
	"brand_id: no such brand in your organization; GET /api/v1/brands lists them")

// findBrand returns a brand of the caller's organization. Another organization's brand and one that does not exist get
// the same answer.
func (a *API) findBrand(ctx context.Context, caller identity.Identity, id uuid.UUID) (postgres.Brand, error) {
	brand, err := a.db.Brand(ctx, caller.OrganizationID, id)
	if errors.Is(err, postgres.ErrNotFound) {
		return postgres.Brand{}, errNoBrand
	}
	return brand, err
}

// findNames is findBrand with competitors, aliases and domains. It is one look-up, since between two the brand may be
// deleted.
func (a *API) findNames(ctx context.Context, caller identity.Identity, id uuid.UUID) (postgres.Snapshot, error) {
	names, err := a.db.Snapshot(ctx, id)
	if errors.Is(err, postgres.ErrNotFound) || err == nil && names.OrganizationID != caller.OrganizationID {
		return postgres.Snapshot{}, errNoBrand
	}
	return names, err
}

// whoamiBody answers GET /api/v1/whoami: the user of a key, which a client asks for to try a connection.
type whoamiBody struct {
	UserID         string `json:"userId"`
	Email          string `json:"email"`
	OrganizationID string `json:"organizationId"`
}

func (a *API) whoami(_ context.Context, caller identity.Identity, q *query) (any, error) {
	return whoamiBody{caller.UserID.String(), caller.Email, caller.OrganizationID.String()}, q.check()
}
