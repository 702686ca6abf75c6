package postgres_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestUsersAreFoundByTheirEmailInAnyCase(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	ann, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "Ann@Example.com", PasswordHash: "$argon2id$…", OrganizationID: o.ID, Role: "owner",
	})
	if err != nil {
		t.Fatal(err)
	}
	user, err := db.UserByEmail(t.Context(), "aNN@example.COM")
	if err != nil || user != ann {
		t.Errorf("found %+v, %v; want %+v", user, err, ann)
	}
	if ann.Email != "Ann@Example.com" || ann.PasswordHash != "$argon2id$…" || !ann.IsActive ||
		ann.OrganizationID != o.ID || ann.Role != "owner" {
		t.Errorf("added %+v", ann)
	}
	if _, err := db.UserByEmail(t.Context(), "bob@example.com"); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("an unknown email: %v", err)
	}
	_, err = db.AddUser(t.Context(), postgres.NewUser{Email: "ANN@example.com", OrganizationID: o.ID, Role: "viewer"})
	if !errors.Is(err, postgres.ErrConflict{What: "email"}) {
		t.Errorf("added twice: %v", err)
	}
	_, err = db.AddUser(t.Context(), postgres.NewUser{
		Email: "bob@example.com", OrganizationID: uuid.Must(uuid.NewV4()), Role: "viewer",
	})
	if !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("added to no organization: %v", err)
	}
	if _, err := db.UserByEmail(t.Context(), "bob@example.com"); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("half a user is left: %v", err)
	}
	for _, u := range []postgres.NewUser{
		{Email: "bob", Role: "viewer"}, {Email: "bob@example.com", Role: "king"},
		{Email: "a b@example.com", Role: "viewer"},
	} {
		u.OrganizationID = o.ID
		if _, err := db.AddUser(t.Context(), u); err == nil {
			t.Errorf("added %+v", u)
		}
	}
}

func TestOrganizationsAreFoundByTheirSlug(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	b, err := db.AddOrganization(t.Context(), "Beta", "the-beta")
	if err != nil || b.Slug != "the-beta" || b.TimeZone != "UTC" || b.CreatedAt.Location() != time.UTC {
		t.Fatalf("added %+v, %v", b, err)
	}
	a := organization(t, db, "Alpha")
	if _, err := db.AddOrganization(t.Context(), "Other",
		"alpha"); !errors.Is(err, postgres.ErrConflict{What: "slug"}) {
		t.Errorf("slug taken twice: %v", err)
	}
	if organization, err := db.OrganizationBySlug(t.Context(), "the-beta"); err != nil || organization != b {
		t.Errorf("found %+v, %v", organization, err)
	}
	if _, err := db.OrganizationBySlug(t.Context(), "Alpha"); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("slug in another case: %v", err)
	}
	if all, err := db.ListOrganizations(t.Context()); err != nil || len(all) != 2 || all[0] != a || all[1] != b {
		t.Errorf("list %+v, %v", all, err)
	}
	for zone, exists := range map[string]bool{"Europe/Vienna": true, "UTC": true, "Mars/Olympus": false, "": false} {
		if _, err := db.Exec(t.Context(), "UPDATE public.organizations SET time_zone = $1",
			zone); (err == nil) != exists {
			t.Errorf("time zone %q: %v", zone, err)
		}
	}
}

func TestKeysBelongToAMember(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o, other := organization(t, db, "House"), organization(t, db, "Other")
	ann, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "ann@example.com", OrganizationID: o.ID, Role: "viewer",
	})
	if err != nil {
		t.Fatal(err)
	}
	key := postgres.NewKey{OrganizationID: o.ID, UserID: ann.ID, Name: "report", Hash: [32]byte{1}, Prefix: "svc_abcd"}
	kept, err := db.AddKey(t.Context(), key)
	if err != nil || kept.Email != ann.Email || kept.Name != "report" || kept.Prefix != "svc_abcd" ||
		kept.RevokedAt != nil || kept.LastUsedAt != nil {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	if _, err := db.AddKey(t.Context(), key); !errors.Is(err, postgres.ErrConflict{What: "key"}) {
		t.Errorf("kept twice: %v", err)
	}
	foreign := key
	foreign.OrganizationID, foreign.Hash = other.ID, [32]byte{2}
	if _, err := db.AddKey(t.Context(), foreign); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("kept for an organization that is not the user's: %v", err)
	}
	if holder, err := db.ResolveKey(t.Context(), key.Hash); err != nil || !reflect.DeepEqual(holder, postgres.KeyHolder{
		KeyID: kept.ID, UserID: ann.ID, Email: ann.Email, OrganizationID: o.ID, Role: ann.Role,
		Scopes: []string{}, UseDue: true,
	}) {
		t.Errorf("resolved %+v, %v", holder, err)
	}
	if err := db.RevokeKey(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ResolveKey(t.Context(), key.Hash); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("resolved a revoked key: %v", err)
	}
	if err := db.RevokeKey(t.Context(), ann.ID); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("revoked no key: %v", err)
	}
	if all, err := db.ListKeys(t.Context(), o.ID); err != nil || len(all) != 1 || all[0].RevokedAt == nil {
		t.Errorf("list %+v, %v", all, err)
	}
	if all, err := db.ListKeys(t.Context(), other.ID); err != nil || len(all) > 0 {
		t.Errorf("another's list %+v, %v", all, err)
	}
}
