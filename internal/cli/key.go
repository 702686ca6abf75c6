package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/postgres"
)

type keyCmd struct {
	Create keyCreate `cmd:"" help:"Create an API key; prints it, alone, once."`
	List   keyList   `cmd:"" help:"List the API keys of an organization."`
	Revoke keyRevoke `cmd:"" help:"Revoke an API key, at once and everywhere."`
	Anon   keyAnon   `cmd:"" help:"Print the key that clients of /rest/v1 send as apikey beside a user's token; it is no secret."`
}

type keyCreate struct {
	Org  string `required:"" placeholder:"SLUG" help:"Whose brands it may read."`
	User string `required:"" placeholder:"EMAIL" help:"The user that it acts for."`
	Name string `required:"" placeholder:"NAME" help:"What it is for."`

	Scope   []string `placeholder:"SCOPE" help:"metrics:read (ask /api/v1; the default), tracking:write (start tracking jobs); repeat it for both."`
	Expires string   `placeholder:"DAY" help:"The last day, in UTC, on which it works, such as 2027-12-31; without it for ever."`

	JSON bool `name:"json" help:"One JSON document."`
}

func (c *keyCreate) Run(ctx context.Context, p *process) error {
	if err := apikey.CheckScopes(c.Scope); err != nil {
		return usageError{err}
	}
	expires, err := endOf(c.Expires)
	if err != nil {
		return err
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		minted, kept, err := on.mint(ctx, c.Org, c.User, postgres.NewKey{Name: c.Name, Scopes: c.Scope, ExpiresAt: expires})
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, struct {
			Text string `json:"key"`
			postgres.Key
		}{minted.Text, kept}, minted.Text)
	})
}

// endOf is the end of a day; nil without one.
func endOf(day string) (*time.Time, error) {
	if day == "" {
		return nil, nil
	}
	last, err := time.Parse(time.DateOnly, day)
	end := last.AddDate(0, 0, 1)
	if err != nil || !end.After(time.Now()) {
		return nil, usageError{fmt.Errorf("--expires %q: want a day from today on, such as %d-12-31", day, time.Now().Year()+1)}
	}
	return &end, nil
}

// mint makes a key with a name, scopes and an end, and keeps what proves it.
func (e *engines) mint(ctx context.Context, slug, email string, k postgres.NewKey) (apikey.Key, postgres.Key, error) {
	organization, err := e.organization(ctx, slug)
	if err != nil {
		return apikey.Key{}, postgres.Key{}, err
	}
	user, err := e.DB.UserByEmail(ctx, email)
	if errors.Is(err, postgres.ErrNotFound) {
		err = e.noUser(ctx, organization, email)
	}
	if err == nil {
		err = apikey.CheckRole(user.Role, k.Scopes...)
	}
	if err != nil {
		return apikey.Key{}, postgres.Key{}, err
	}
	minted := apikey.Mint()
	k.OrganizationID, k.UserID, k.Hash, k.Prefix = organization.ID, user.ID, minted.Hash, minted.Prefix
	kept, err := e.DB.AddKey(ctx, k)
	if errors.Is(err, postgres.ErrNotFound) { // a user of another organization
		err = e.noUser(ctx, organization, email)
	}
	return minted, kept, err
}

// noUser says that an organization has no such user, and whom it has.
func (e *engines) noUser(ctx context.Context, o postgres.Organization, email string) error {
	emails, err := e.DB.UserEmails(ctx, o.ID)
	if err != nil {
		return err
	}
	return notFound("user", email, emails, func(email string) string { return email }, "answerscope user add EMAIL --org "+o.Slug)
}

type keyList struct {
	Org  string `required:"" placeholder:"SLUG" help:"Whose keys."`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

func (c *keyList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		list, err := on.DB.ListKeys(ctx, organization.ID)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, keyLine)
	})
}

// keyLine is a key in a table.
func keyLine(k postgres.Key) string {
	state := "never used"
	switch {
	case k.RevokedAt != nil:
		state = "revoked " + k.RevokedAt.Format(time.DateOnly)
	case k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()):
		state = "expired " + k.ExpiresAt.Format(time.DateTime)
	case k.LastUsedAt != nil:
		state = "last used " + k.LastUsedAt.Format(time.DateTime)
	}
	return fmt.Sprintf("%s\t%s…\t%s\t%s\t%s", k.ID, k.Prefix, k.Name, k.Email, state)
}

type keyRevoke struct {
	ID string `arg:"" help:"Of the key, as key list prints it."`
}

func (c *keyRevoke) Run(ctx context.Context, p *process) error {
	id, err := uuid.FromString(c.ID)
	if err != nil {
		return usageError{fmt.Errorf("key %q: want the id that key list prints", c.ID)}
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		return listedBy("answerscope key list", on.DB.RevokeKey(ctx, id))
	})
}

type keyAnon struct{}

func (keyAnon) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		key := p.Settings.AnonKey.Reveal()
		if key == "" && p.Settings.Issuer.IsSet() {
			return usageError{errors.New("ANSWERSCOPE_ANON_KEY is missing: want the anon key of the issuer of tokens")}
		}
		if key == "" {
			provider, err := queryapi.NewProvider(queryapi.Deps{DB: on.DB, Settings: p.Settings, Log: p.Log})
			if err == nil && provider == nil {
				err = usageError{errors.New("ANSWERSCOPE_SECRET_KEYS is missing: want that of the processes that serve /rest/v1")}
			}
			if err != nil {
				return err
			}
			keys, err := provider.AnonKeys(ctx)
			if err != nil {
				return err
			}
			key = keys[0]
		}
		return p.print(key)
	})
}
