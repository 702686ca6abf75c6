package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

type keyCmd struct {
	Create keyCreate `cmd:"" help:"Create an API key; prints it, alone, once."`
	List   keyList   `cmd:"" help:"List the API keys of an organization."`
	Revoke keyRevoke `cmd:"" help:"Revoke an API key, at once and everywhere."`
	Anon   keyAnon   `cmd:"" help:"Print the public key that clients of /rest/v1 send as apikey beside a user's token."`
}

type keyCreate struct {
	orgFlags
	User    string   `required:"" placeholder:"EMAIL" help:"The user that it acts for."`
	Name    string   `required:"" placeholder:"NAME" help:"What it is for."`
	Scope   []string `placeholder:"SCOPE" help:"{scopes}"`
	Expires string   `placeholder:"DAY" help:"{key_create_expires}"`
	JSON    bool     `name:"json" help:"One JSON document."`

	end *time.Time
}

// Validate checks the scopes and the day.
func (c *keyCreate) Validate() error {
	if err := auth.CheckScopes(c.Scope); err != nil || c.Expires == "" {
		return err
	}
	day, err := time.Parse(time.DateOnly, c.Expires)
	end := day.AddDate(0, 0, 1)
	if err != nil || !end.After(time.Now()) {
		return fmt.Errorf("--expires %q: want a day from today on, such as %d-12-31", c.Expires, time.Now().Year()+1)
	}
	c.end = &end
	return nil
}

func (c *keyCreate) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	minted, stored, err := mintKey(ctx, db, organization, c.User,
		postgres.NewKey{Name: c.Name, Scopes: c.Scope, ExpiresAt: c.end})
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, struct {
		Text string `json:"key"`
		postgres.Key
	}{minted.Text, stored}, minted.Text)
}

// mintKey makes a key with a name, scopes and an end, and stores its hash.
func mintKey(
	ctx context.Context, db *postgres.DB, organization postgres.Organization, email string, key postgres.NewKey,
) (auth.APIKey, postgres.Key, error) {
	user, err := db.UserByEmail(ctx, email)
	if err == nil {
		err = auth.CheckRole(user.Role, key.Scopes...)
	}
	var stored postgres.Key
	minted := auth.MintKey()
	if err == nil {
		key.OrganizationID, key.UserID, key.Hash, key.Prefix = organization.ID, user.ID, minted.Hash, minted.Prefix
		stored, err = db.AddKey(ctx, key)
	}
	if !errors.Is(err, postgres.ErrNotFound) {
		return minted, stored, err
	}
	// There is no such user, or not in this organization.
	emails, err := db.UserEmails(ctx, organization.ID)
	if err == nil {
		err = notFound("user", email, emails, func(email string) string { return email },
			"answerscope user add EMAIL --org "+organization.Slug)
	}
	return minted, stored, err
}

type keyList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *keyList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	return asList(db.ListKeys(ctx, organization.ID)).print(p, c.JSON, func(k postgres.Key) string {
		state := useOf(k.RevokedAt, k.ExpiresAt, k.LastUsedAt)
		return fmt.Sprintf("%s\t%s…\t%s\t%s\t%s", k.ID, k.Prefix, k.Name, k.Email, state)
	})
}

// useOf describes whether a credential works and was used.
func useOf(revoked, expires, used *time.Time) string {
	switch {
	case revoked != nil:
		return "revoked " + revoked.Format(time.DateOnly)
	case expires != nil && expires.Before(time.Now()):
		return "expired " + expires.Format(time.DateTime)
	case used != nil:
		return "last used " + used.Format(time.DateTime)
	}
	return "never used"
}

type keyRevoke struct {
	ID string `arg:"" help:"Of the key, as key list prints it."`

	id uuid.UUID
}

// Validate checks the id.
func (c *keyRevoke) Validate() (err error) {
	if c.id, err = uuid.FromString(c.ID); err != nil {
		return fmt.Errorf("key %q: want the id that key list prints", c.ID)
	}
	return nil
}

func (c *keyRevoke) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList("answerscope key list", db.RevokeKey(ctx, c.id))
}

type keyAnon struct{}

func (keyAnon) Run(ctx context.Context, p *process, db *postgres.DB) error {
	if key := p.Settings.AnonKey.Reveal(); key != "" {
		return p.print(key)
	}
	if p.Settings.Issuer.IsSet() {
		return usageError{errors.New("ANSWERSCOPE_ANON_KEY is missing: want the anon key of the issuer of tokens")}
	}
	provider, err := queryapi.NewProvider(queryapi.Deps{DB: db, Settings: p.Settings, Log: p.Log})
	if err != nil {
		return err
	}
	if provider == nil {
		return usageError{errors.New("ANSWERSCOPE_SECRET_KEYS is missing: want the keys of the servers of /rest/v1")}
	}
	keys, err := provider.AnonKeys(ctx)
	if err != nil {
		return err
	}
	return p.print(keys[0])
}

type secretsCmd struct {
	Rotate secretsRotate `cmd:"" help:"Encrypt every secret in the database with the first of ANSWERSCOPE_SECRET_KEYS."`
}

type secretsRotate struct {
	JSON bool `name:"json" help:"One JSON document."`
}

func (c *secretsRotate) Run(ctx context.Context, p *process, db *postgres.DB) error {
	ring, err := p.Settings.SecretRing()
	if err == nil && !ring.IsSet() {
		err = errors.New("ANSWERSCOPE_SECRET_KEYS is missing: want the new key in front of the old ones, " +
			"id:base64,id:base64…")
	}
	if err != nil {
		return usageError{err}
	}
	if err := db.LogAudit(ctx, "secrets rotated", uuid.Nil, "all"); err != nil {
		return err
	}
	resealed, err := db.Reseal(ctx, ring.Reseal)
	if err != nil {
		return fmt.Errorf("%d secrets encrypted, others not: %w", resealed, err)
	}
	return p.printResult(c.JSON, map[string]int{"encrypted": resealed}, fmt.Sprintf("%d secrets encrypted", resealed))
}
