package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi/share"
	"github.com/answerscope/answerscope/sql/postgres"
)

type shareCmd struct {
	Add    shareAdd    `cmd:"" help:"Make a link to screens of a brand, for people without an account; prints it once."`
	List   shareList   `cmd:"" help:"List the share links of an organization."`
	Revoke shareRevoke `cmd:"" help:"Revoke a share link, at once and everywhere."`
}

type shareAdd struct {
	orgFlags
	Brand    string            `arg:"" help:"Its slug."`
	Title    string            `placeholder:"TEXT" help:"What it is called there (default: the brand's name)."`
	Screen   []string          `placeholder:"SCREEN" help:"{share_screen}"`
	Filter   map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"{share_filter}"`
	Embed    []string          `placeholder:"ORIGIN" help:"{share_embed}"`
	Expires  string            `placeholder:"DAY" help:"{share_expires}"`
	Password bool              `help:"Read a password from stdin, without which it shows nothing."`
	JSON     bool              `name:"json" help:"One JSON document."`

	draft share.Draft
}

// Validate checks the day.
func (c *shareAdd) Validate() error {
	c.draft = share.NewDraft(uuid.Nil, uuid.Nil, time.Now())
	c.draft.Title, c.draft.Screens, c.draft.EmbedOrigins = c.Title, c.Screen, c.Embed
	c.draft.Filters = map[string]any{}
	for name, value := range c.Filter {
		c.draft.Filters[name] = value
	}
	switch c.Expires {
	case "":
	case "never":
		c.draft.ExpiresAt = nil
	default:
		day, err := time.Parse(time.DateOnly, c.Expires)
		if err != nil {
			return fmt.Errorf("--expires %q: want a day such as %d-12-31, or never", c.Expires, time.Now().Year())
		}
		c.draft.ExpiresAt = new(day.AddDate(0, 0, 1))
	}
	return nil
}

func (c *shareAdd) Run(ctx context.Context, p *process) (err error) {
	if c.Password {
		if c.draft.Password, err = p.readLine(ctx, "Password"); err != nil {
			return err
		}
		if c.draft.Password == "" {
			return usageError{errors.New("--password: want the password as the first line of stdin")}
		}
	}
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	organization, brand, err := findBrand(ctx, on.DB, c.Org, c.Brand)
	if err != nil {
		return err
	}
	c.draft.OrganizationID, c.draft.BrandID = organization.ID, brand.ID
	id, path, err := share.Add(ctx, on.DB, c.draft, time.Now())
	if err != nil {
		return err
	}
	url := publicURL(on) + path
	return p.printResult(c.JSON, map[string]any{"id": id, "url": url}, url)
}

type shareList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *shareList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	return asList(db.ShareLinks(ctx, organization.ID)).print(p, c.JSON, func(l postgres.ListedShareLink) string {
		state := useOf(l.RevokedAt, l.ExpiresAt, l.LastUsedAt)
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", l.ID, l.Brand, l.Title, strings.Join(l.Screens, ","), state)
	})
}

type shareRevoke struct {
	ID string `arg:"" help:"Of the link, as share list prints it."`
}

func (c *shareRevoke) Run(ctx context.Context, db *postgres.DB) error {
	id := uuid.FromStringOrNil(c.ID) // no link has the nil UUID
	return suggestList("answerscope share list", db.RevokeShareLink(ctx, id))
}
