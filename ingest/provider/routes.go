package provider

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

// Mount adds the paths below /api/providers to a router: members read, the owner writes. The handlers before them find
// who asks, by whatever credential.
func (p *Providers) Mount(router fiber.Router, before ...fiber.Handler) {
	router.Get("", append(slices.Clone(before), p.list)...)
	router.Put("/:platform", append(slices.Clone(before), p.put)...)
	router.Delete("/:platform", append(slices.Clone(before), p.remove)...)
}

// A View is a provider as people and clients see it; never its key.
type View struct {
	Platform    string  `json:"platform"`
	Name        string  `json:"name"`
	Available   bool    `json:"available"`
	Reason      string  `json:"reason,omitempty"`   // why it is not
	KeyFrom     string  `json:"key_from,omitempty"` // environment or organization
	KeyEnd      string  `json:"key_ends_with,omitempty"`
	TakesRegion bool    `json:"takes_region"`
	Models      []Model `json:"models"` // the first is the default
	Limits      Limits  `json:"limits"`
}

// Model is a model of a View.
type Model struct {
	Model string `json:"model"`
	Price *Price `json:"price"` // null: not known
}

// Price is what a model costs, by the platform's list of a day.
type Price struct {
	Currency               string `json:"currency"`
	Date                   string `json:"date"`
	PerMillionInputTokens  string `json:"per_million_input_tokens,omitempty"`
	PerMillionOutputTokens string `json:"per_million_output_tokens,omitempty"`
	PerThousandSearches    string `json:"per_thousand_searches,omitempty"`
	PerThousandRequests    string `json:"per_thousand_requests,omitempty"`
}

// Limits are those of one account.
type Limits struct {
	RequestsPerMinute int `json:"requests_per_minute"` // 0: none
	TokensPerMinute   int `json:"tokens_per_minute"`
	InFlight          int `json:"in_flight"`
}

// View is the provider without what is secret.
func (p Provider) View() View {
	v := View{
		Platform: p.Slug, Name: p.Name, Available: p.Unavailable == "", Reason: p.Unavailable, KeyFrom: p.KeyFrom, KeyEnd: p.KeyEnd,
		TakesRegion: p.TakesRegion, Models: []Model{}, Limits: Limits(p.Limits),
	}
	for _, m := range p.Models {
		v.Models = append(v.Models, Model{m.Slug, (*Price)(m.Price)})
	}
	return v
}

func (p *Providers) list(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	list, err := p.List(c.UserContext(), caller.OrganizationID)
	if err != nil {
		return err
	}
	views := []View{}
	for _, found := range list {
		views = append(views, found.View())
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"providers": views})
}

// put sets the key of the body, {"key": "…"}, and answers with the provider.
func (p *Providers) put(c *fiber.Ctx) error {
	caller, slug := identity.FromContext(c.UserContext()), c.Params("platform")
	if err := mayWrite(caller, slug); err != nil {
		return err
	}
	var body struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(c.Body(), &body) != nil {
		return problem.New(problem.Invalid, `the body: want {"key": "…"}`)
	}
	if err := p.Set(c.UserContext(), caller.UserID, caller.OrganizationID, slug, body.Key); err != nil {
		return err
	}
	found, err := p.Find(c.UserContext(), caller.OrganizationID, slug)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(found.View())
}

func (p *Providers) remove(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	if err := mayWrite(caller, c.Params("platform")); err != nil {
		return err
	}
	if err := p.Remove(c.UserContext(), caller.UserID, caller.OrganizationID, c.Params("platform")); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// mayWrite says why a caller may not write the key of a platform; nil where they may.
func mayWrite(caller identity.Identity, slug string) error {
	if err := needsKey(slug); err != nil {
		return err
	}
	if !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden, "a %s may not set or remove keys of platforms: want an owner of the organization", caller.Role)
	}
	return nil
}
