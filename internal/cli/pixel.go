package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/collector/script"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// pixel prints the snippet for a site.
type pixelCmd struct {
	Brand string `arg:"" help:"Its slug, or its id."`
	Org   string `required:"" placeholder:"SLUG" help:"The organization that it belongs to."`
	As    string `enum:"all,html,html-pinned,wordpress,gtm,nextjs" default:"all" placeholder:"KIND" help:"{pixel_as}"`
	URL   string `name:"url" placeholder:"BASE" help:"{pixel_url}"`
	JSON  bool   `name:"json" help:"One JSON document."`
}

// tagDocument is a tag as JSON.
type tagDocument struct {
	BrandID   string            `json:"brand_id"`
	Domains   []string          `json:"domains"` // visits of pages on these hosts, and below them, are accepted
	Script    string            `json:"script"`
	Pinned    string            `json:"pinned"`
	Integrity string            `json:"integrity"`
	Collect   string            `json:"collect"`
	Snippets  map[string]string `json:"snippets"`
}

func (c *pixelCmd) Run(ctx context.Context, p *process) error {
	if c.URL != "" {
		if _, err := script.NewTag(c.URL, ""); err != nil {
			return usageError{err}
		}
	}
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	brand, err := c.find(ctx, on.DB)
	if err != nil {
		return err
	}
	tag, err := script.NewTag(cmp.Or(c.URL, on.Address(), "http://127.0.0.1:8080"), brand.BrandID.String())
	if err != nil {
		return err
	}
	if len(brand.Domains) == 0 {
		p.say("brand %q has no domain: give it one, or every visit is refused", brand.Slug)
	} else {
		p.say("visits are accepted from %s and hosts below", strings.Join(brand.Domains, ", "))
	}
	return c.print(p, tag, brand)
}

// find reads the brand by its slug or its id.
func (c *pixelCmd) find(ctx context.Context, db *postgres.DB) (postgres.Snapshot, error) {
	slug := c.Brand
	id, malformed := uuid.FromString(c.Brand)
	if malformed == nil {
		slug = ""
	}
	organization, brand, err := findBrand(ctx, db, c.Org, slug)
	if err == nil && slug == "" {
		brand, err = db.Brand(ctx, organization.ID, id)
		if errors.Is(err, postgres.ErrNotFound) {
			err = noBrand(ctx, db, organization, c.Brand)
		}
	}
	if err != nil {
		return postgres.Snapshot{}, err
	}
	return db.Snapshot(ctx, brand.ID)
}

func (c *pixelCmd) print(p *process, tag script.Tag, brand postgres.Snapshot) error {
	snippets := tag.Snippets()
	switch {
	case c.JSON:
		document := tagDocument{brand.BrandID.String(), brand.Domains, tag.Script(), tag.Pinned(), script.Integrity(),
			tag.Collect(), map[string]string{}}
		for _, s := range snippets {
			document.Snippets[s.As] = s.Text
		}
		return p.printJSON(document)
	case c.As != "all":
		snippet, err := tag.Snippet(c.As)
		if err != nil {
			return usageError{err}
		}
		return p.print(snippet.Text)
	}
	var text []string
	for _, s := range snippets {
		text = append(text, fmt.Sprintf("%s\n\n%s\n", s.Where, s.Text))
	}
	return p.print(strings.TrimSuffix(strings.Join(text, "\n"), "\n"))
}
