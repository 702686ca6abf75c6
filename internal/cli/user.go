package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/link"
	"github.com/answerscope/answerscope/sql/postgres"
)

type userCmd struct {
	Add     userAdd     `cmd:"" help:"Add a user to an organization."`
	Invite  userInvite  `cmd:"" help:"Invite an address to an organization, and print the link."`
	List    userList    `cmd:"" help:"List the users of an organization."`
	Disable userDisable `cmd:"" help:"Disable a user, at once and everywhere: sessions end, keys stop."`
	Enable  userEnable  `cmd:"" help:"Enable a disabled user again."`
	Passwd  userPasswd  `cmd:"" help:"Give a user another password, and end their sessions."`
	Reset   userReset   `cmd:"" help:"Print a link by which a user chooses another password."`
	Role    userRole    `cmd:"" help:"Give a user another role."`
	Remove  userRemove  `cmd:"" help:"Delete a user with their sessions and API keys."`
}

type userAdd struct {
	orgFlags
	Email string `arg:"" help:"What they sign in with."`
	Role  string `default:"member" enum:"owner,admin,member,viewer" placeholder:"ROLE" help:"{roles} (default member)."`
	ID    string `name:"id" env:"-" placeholder:"UUID" help:"{user_id}"`
	JSON  bool   `name:"json" help:"One JSON document."`

	id uuid.UUID
}

// Validate checks the address and the id.
func (c *userAdd) Validate() error {
	if err := checkEmail(c.Email); err != nil {
		return err
	}
	if c.ID != "" {
		var err error
		if c.id, err = uuid.FromString(c.ID); err != nil || c.id.IsNil() {
			return fmt.Errorf("id %q: want a UUID, the sub of the issuer's tokens", c.ID)
		}
	}
	return nil
}

func (c *userAdd) Run(ctx context.Context, p *process) error {
	chosen, err := p.readPassword(ctx, auth.MinPassword, c.Email)
	if err != nil {
		return err
	}
	generated, hash := "", ""
	if chosen == "" && c.id.IsNil() {
		generated = auth.GeneratePassword()
	}
	if text := cmp.Or(chosen, generated); text != "" {
		hash = auth.HashPassword(text)
	}
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	organization, err := findOrganization(ctx, on.DB, c.Org)
	if err != nil {
		return err
	}
	added, err := on.DB.AddUser(ctx, postgres.NewUser{ID: c.id, Email: c.Email, PasswordHash: hash,
		OrganizationID: organization.ID, Role: c.Role})
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s %s %s", added.ID, added.Email, added.Role)
	if generated != "" {
		line += "\npassword " + generated
	}
	return p.printResult(c.JSON, struct {
		ID           uuid.UUID `json:"id"`
		Email        string    `json:"email"`
		Organization uuid.UUID `json:"organization_id"`
		Role         string    `json:"role"`
		Password     string    `json:"password,omitempty"`
	}{added.ID, added.Email, added.OrganizationID, added.Role, generated}, line)
}

func checkEmail(address string) error {
	if !postgres.IsEmail(address) {
		return fmt.Errorf("email %q: want name@host", address)
	}
	return nil
}

type userInvite struct {
	orgFlags
	Email string `arg:"" help:"Of the person."`
	Role  string `default:"member" enum:"owner,admin,member,viewer" placeholder:"ROLE" help:"{roles}."`
	JSON  bool   `name:"json" help:"One JSON document."`
}

// Validate checks the address.
func (c *userInvite) Validate() error { return checkEmail(c.Email) }

func (c *userInvite) Run(ctx context.Context, p *process) error {
	db, links, err := p.links(ctx)
	if err != nil {
		return err
	}
	organization, err := findOrganization(ctx, db, c.Org)
	if err != nil {
		return err
	}
	invitation, err := links.Invite(ctx, postgres.NewInvitation{OrganizationID: organization.ID, Email: c.Email,
		Role: c.Role}, "The operator")
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, invitation, invitation.URL)
}

// links connects and makes one-time links for users of the built-in identity provider.
func (p *process) links(ctx context.Context) (*postgres.DB, *link.Links, error) {
	if p.Settings.Issuer.IsSet() {
		return nil, nil, errors.New("users sign in at ANSWERSCOPE_ISSUER, which has its own invitations and passwords")
	}
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return nil, nil, err
	}
	links, err := queryapi.NewLinks(queryapi.Deps{DB: on.DB, Settings: p.Settings, Log: p.Log}, nil)
	return on.DB, links, err
}

type userList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *userList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	return asList(db.ListUsers(ctx, organization.ID)).print(p, c.JSON, func(u postgres.OrganizationUser) string {
		state := "never signed in"
		switch {
		case !u.IsActive:
			state = "disabled"
		case u.LastSignInAt != nil:
			state = "signed in " + u.LastSignInAt.Format(time.DateTime)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s", u.ID, u.Email, u.Role, state)
	})
}

// userEmail is the argument of commands that change a user.
type userEmail struct {
	Email string `arg:"" help:"Of the user, as user list prints it."`
}

const userListCommand = "answerscope user list"

type userDisable struct{ userEmail }

func (c *userDisable) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList(userListCommand, db.SetUserActive(ctx, c.Email, false))
}

type userEnable struct{ userEmail }

func (c *userEnable) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList(userListCommand, db.SetUserActive(ctx, c.Email, true))
}

type userPasswd struct{ userEmail }

func (c *userPasswd) Run(ctx context.Context, p *process) error {
	chosen, err := p.readPassword(ctx, auth.MinPassword, c.Email)
	if err != nil {
		return err
	}
	text := cmp.Or(chosen, auth.GeneratePassword())
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	if err := on.DB.SetPassword(ctx, c.Email, auth.HashPassword(text)); err != nil {
		return suggestList(userListCommand, err)
	}
	if chosen != "" {
		return nil
	}
	return p.print("password " + text)
}

type userReset struct{ userEmail }

func (c *userReset) Run(ctx context.Context, p *process) error {
	db, links, err := p.links(ctx)
	if err != nil {
		return err
	}
	user, err := db.UserByEmail(ctx, c.Email)
	if err != nil {
		return suggestList(userListCommand, err)
	}
	if !user.IsActive {
		return fmt.Errorf("%s is disabled: `answerscope user enable %[1]s` comes first", user.Email)
	}
	url, err := links.Reset(ctx, user, true)
	if err != nil {
		return err
	}
	return p.print(url)
}

type userRole struct {
	userEmail
	Role string `arg:"" enum:"owner,admin,member,viewer" help:"{roles}."`
}

func (c *userRole) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList(userListCommand, db.SetRole(ctx, c.Email, c.Role))
}

type userRemove struct{ userEmail }

func (c *userRemove) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList(userListCommand, db.RemoveUser(ctx, c.Email))
}
