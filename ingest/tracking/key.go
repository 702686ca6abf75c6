package tracking

import (
	"context"
	"errors"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	longestKey = 2000
	shownOfKey = 4
	leastShown = 16 // of a shorter key, no character is shown
)

// Set gives an organization a key of a platform, in place of one that it has. user did it; nil is the command line.
// What is wrong with the key or the platform is a problem, which does not show the key.
func (p *Platforms) Set(ctx context.Context, user, organizationID uuid.UUID, slug, key string) error {
	if err := CheckNeedsKey(slug); err != nil {
		return err
	}
	key = strings.TrimSpace(key)
	if key == "" || len(key) > longestKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return problem.New(problem.Invalid, "the key of %s: want 1 to %d letters, digits and signs, without spaces", slug, longestKey)
	}
	if !p.ring.IsSet() {
		return problem.New(problem.Invalid, "ANSWERSCOPE_SECRET_KEYS is missing: want that of all processes, which encrypts keys of platforms")
	}
	end := ""
	if len(key) >= leastShown {
		end = key[len(key)-shownOfKey:]
	}
	return p.db.SetProviderKey(ctx, user, postgres.ProviderKey{
		OrganizationID: organizationID, Platform: slug, LastCharacters: end,
		Sealed: p.ring.Seal([]byte(key), sealedName(organizationID, slug)),
	})
}

// Remove takes an organization's key of a platform from it. It is a problem of kind Missing if it has none.
func (p *Platforms) Remove(ctx context.Context, user, organizationID uuid.UUID, slug string) error {
	if err := CheckNeedsKey(slug); err != nil {
		return err
	}
	err := p.db.RemoveProviderKey(ctx, user, organizationID, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		return problem.New(problem.Missing, "the organization has no key of its own of %s", slug)
	}
	return err
}

// CheckNeedsKey refuses a platform that is unknown, or that needs no key.
func CheckNeedsKey(slug string) error {
	switch entry, known := catalog.Find(slug); {
	case !known:
		return unknown(slug)
	case !entry.NeedsKey:
		return problem.New(problem.Invalid, "%s needs no key", slug)
	}
	return nil
}

// Reseal encrypts every key with the first key of ring, and returns how many there are. What ring cannot decrypt is
// left as it is, and named in the error.
func Reseal(ctx context.Context, db *postgres.DB, ring secret.Ring) (resealed int, err error) {
	keys, err := db.AllProviderKeys(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, key := range keys {
		name := sealedName(key.OrganizationID, key.Platform)
		plain, err := ring.Open(key.Sealed, name)
		if err == nil {
			err = db.ResealProviderKey(ctx, key, ring.Seal(plain, name))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		resealed++
	}
	return resealed, errors.Join(errs...)
}

// sealedName binds a key to its row.
func sealedName(organizationID uuid.UUID, slug string) string {
	return "provider key " + organizationID.String() + " " + slug
}
