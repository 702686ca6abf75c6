package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"os"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/term"

	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

type userCmd struct {
	Add     userAdd     `cmd:"" help:"Add a user to an organization."`
	List    userList    `cmd:"" help:"List the users of an organization."`
	Disable userDisable `cmd:"" help:"Disable a user, at once and everywhere: sessions end, keys stop."`
	Enable  userEnable  `cmd:"" help:"Enable a disabled user again."`
	Passwd  userPasswd  `cmd:"" help:"Give a user another password, and end their sessions."`
	Role    userRole    `cmd:"" help:"Give a user another role."`
	Remove  userRemove  `cmd:"" help:"Delete a user with their sessions and API keys."`
}

type userAdd struct {
	Email string `arg:"" help:"What they sign in with."`
	Org   string `required:"" placeholder:"SLUG" help:"The organization; a user has one."`
	Role  string `default:"member" enum:"owner,admin,member,viewer" placeholder:"ROLE" help:"owner, admin, member or viewer (default member)."`
	ID    string `name:"id" env:"-" placeholder:"UUID" help:"Their id, where an outside issuer decides it: the sub of its tokens. They have a password only if stdin has one."`
	JSON  bool   `name:"json" help:"One JSON document."`
}

// leastPassword is the fewest characters of a password that a person chose (NIST SP 800-63B).
const leastPassword = 8

func (c *userAdd) Run(ctx context.Context, p *process) error {
	if address, err := mail.ParseAddress(c.Email); err != nil || address.Address != c.Email {
		return usageError{fmt.Errorf("email %q: want name@host", c.Email)}
	}
	var id uuid.UUID
	if c.ID != "" {
		var err error
		if id, err = uuid.FromString(c.ID); err != nil || id.IsNil() {
			return usageError{fmt.Errorf("id %q: want a UUID, the sub of the issuer's tokens", c.ID)}
		}
	}
	chosen, err := readPassword(p, leastPassword, c.Email)
	if err != nil {
		return err
	}
	generated, hash := "", ""
	if chosen == "" && id.IsNil() {
		generated = password.Generate()
	}
	if chosen = cmp.Or(chosen, generated); chosen != "" {
		hash = password.Hash(chosen)
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		added, err := on.DB.AddUser(ctx, postgres.NewUser{ID: id, Email: c.Email, PasswordHash: hash, OrganizationID: organization.ID, Role: c.Role})
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %s", added.ID, added.Email, added.Role)
		if generated != "" {
			line += "\npassword " + generated
		}
		return p.printResult(c.JSON, struct {
			ID           string `json:"id"`
			Email        string `json:"email"`
			Organization string `json:"organization_id"`
			Role         string `json:"role"`
			Password     string `json:"password,omitempty"`
		}{added.ID.String(), added.Email, added.OrganizationID.String(), added.Role, generated}, line)
	})
}

type userList struct {
	Org  string `required:"" placeholder:"SLUG" help:"Whose users."`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

func (c *userList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		list, err := on.DB.ListUsers(ctx, organization.ID)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, func(u postgres.OrganizationUser) string {
			state := "never signed in"
			switch {
			case !u.IsActive:
				state = "disabled"
			case u.LastSignInAt != nil:
				state = "signed in " + u.LastSignInAt.Format(time.DateTime)
			}
			return fmt.Sprintf("%s\t%s\t%s\t%s", u.ID, u.Email, u.Role, state)
		})
	})
}

// userEmail is the argument of what is done to a user.
type userEmail struct {
	Email string `arg:"" help:"Of the user, as user list prints it."`
}

type userDisable struct{ userEmail }

func (c *userDisable) Run(ctx context.Context, p *process) error { return c.setActive(ctx, p, false) }

type userEnable struct{ userEmail }

func (c *userEnable) Run(ctx context.Context, p *process) error { return c.setActive(ctx, p, true) }

func (c userEmail) setActive(ctx context.Context, p *process, active bool) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		return listedBy("answerscope user list", on.DB.SetUserActive(ctx, c.Email, active))
	})
}

type userPasswd struct{ userEmail }

func (c *userPasswd) Run(ctx context.Context, p *process) error {
	given, err := readPassword(p, leastPassword, c.Email)
	if err != nil {
		return err
	}
	chosen := cmp.Or(given, password.Generate())
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		if err := on.DB.SetPassword(ctx, c.Email, password.Hash(chosen)); err != nil {
			return listedBy("answerscope user list", err)
		}
		if given != "" {
			return nil
		}
		return p.print("password " + chosen)
	})
}

type userRole struct {
	userEmail
	Role string `arg:"" enum:"owner,admin,member,viewer" help:"owner, admin, member or viewer."`
}

func (c *userRole) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		return listedBy("answerscope user list", on.DB.SetRole(ctx, c.Email, c.Role))
	})
}

type userRemove struct{ userEmail }

func (c *userRemove) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		return listedBy("answerscope user list", on.DB.RemoveUser(ctx, c.Email))
	})
}

// passwordTimeout is how long a password may take to come through a pipe before there is none: stdin may be open with
// no writer at its other end.
const passwordTimeout = 10 * time.Second

// readPassword returns the first line of stdin, "" when there is none; a terminal is not asked. words are of who gets
// it.
func readPassword(p *process, least int, words ...string) (string, error) {
	if file, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return "", nil
	}
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(p.stdin).ReadString('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			err = nil
		}
		done <- read{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read password: %w", r.err)
		}
		if r.line == "" {
			return "", nil
		}
		if err := password.Check(r.line, least, words...); err != nil {
			return "", usageError{err}
		}
		return r.line, nil
	case <-time.After(passwordTimeout):
		p.say("no password came on stdin within %s", passwordTimeout)
		return "", nil
	}
}
