// Package onboard reads a brand's home page, when a person asks for it: its names, its address and its questions become
// suggestions, which people decide on.
package onboard

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/net/html"
	"golang.org/x/net/idna"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	maxWords      = 4   // of a name
	maxName       = 64  // characters
	maxText       = 301 // characters that are read of any text: one more than a question may have
	maxKey        = 512 // bytes
	maxPerKind    = 50
	maxTexts      = 500             // of a page that are read as names, or as questions
	answerTimeout = 9 * time.Second // the page takes at most five
)

// A Reader reads home pages of brands.
type Reader struct {
	DB    *postgres.DB
	Home  func(ctx context.Context, domain string) (egress.Page, error)
	Now   func() time.Time
	slots httpd.Slots
}

// Mount adds POST /{id}/home-page, which reads the home page of a brand of the caller's organization. The handlers
// before it find the caller.
func (r *Reader) Mount(router fiber.Router, before ...fiber.Handler) {
	router.Post("/:id/home-page", append(before, httpd.Within(answerTimeout, r.post))...)
}

func (r *Reader) post(c *fiber.Ctx) error {
	ctx := c.UserContext()
	caller := identity.FromContext(ctx)
	if !caller.AtLeast(identity.Member) {
		return problem.New(problem.Forbidden, "this is not for a %s: want the role member, admin or owner", caller.Role)
	}
	release, err := r.slots.Acquire(ctx, caller.OrganizationID)
	if err != nil {
		return problem.New(problem.TooMany, "your organization has too many requests under way; ask again")
	}
	defer release()
	id, _ := uuid.FromString(c.Params("id")) // another text is no brand's id
	result, err := r.Read(ctx, caller.OrganizationID, id)
	if err != nil {
		return err
	}
	return c.JSON(result)
}

// Result counts the suggestions of a home page.
type Result struct {
	URL         string       `json:"url"` // after redirects
	New         int64        `json:"new"` // of Suggestions
	Suggestions []suggestion `json:"suggestions"`
}

// Read fetches the home page of an organization's brand and stores its suggestions.
func (r *Reader) Read(ctx context.Context, organization, id uuid.UUID) (result Result, err error) {
	brand, err := r.DB.Snapshot(ctx, id)
	switch {
	case errors.Is(err, postgres.ErrNotFound) || err == nil && brand.OrganizationID != organization:
		return result, problem.New(problem.Missing, "no such brand")
	case err != nil:
		return result, err
	case len(brand.Domains) == 0:
		return result, problem.New(problem.Unprocessable, "the brand has no domain: add one in Settings")
	}
	prompts, err := r.DB.Prompts(ctx, id)
	if err != nil {
		return result, err
	}
	page, err := r.Home(ctx, brand.Domains[0])
	if err != nil {
		return result, err
	}
	list, err := suggest(page, brand, prompts)
	if err != nil {
		return result, err
	}
	added, err := r.DB.SuggestFromPage(ctx, id, list, r.Now())
	return Result{page.URL.String(), added, list}, err
}

// A suggestion is a name, an address or a prompt that a home page states and nothing tracks.
type suggestion struct {
	Kind     string   `json:"kind"`
	Key      string   `json:"key"`
	Text     string   `json:"text"`
	Reason   string   `json:"reason"`
	Evidence evidence `json:"evidence"`
}

type evidence struct {
	Name string `json:"name"` // the alias, the domain or the prompt
	URL  string `json:"url"`
}

// suggest returns what a home page states about its brand and nothing tracks.
func suggest(page egress.Page, brand postgres.Snapshot, tracked []postgres.TrackedPrompt) ([]suggestion, error) {
	statement, err := read(page)
	if err != nil {
		return nil, problem.New(problem.Unprocessable, "%.300s cannot be read as HTML: %v", page.URL, err)
	}
	list, counts, keys := []suggestion{}, map[string]int{}, map[string]bool{}
	address := page.URL.Scheme + "://" + page.URL.Host + "/"
	add := func(kind, key, text, before, after string) {
		if key != "" && len(key) <= maxKey && !keys[kind+key] && counts[kind] < maxPerKind {
			counts[kind]++
			keys[kind+key] = true
			e := evidence{text, address}
			list = append(list, suggestion{kind, key, before + text + after, "Read on " + address, e})
		}
	}
	for _, text := range append(brand.Aliases, brand.Name) {
		keys[advice.KindAlias+extract.Fold(text)] = true
	}
	for _, text := range cleaned(statement.names) {
		isName := utf8.RuneCountInString(text) <= maxName && len(strings.Fields(text)) <= maxWords
		if isName && !name.IsGeneric(text) {
			add(advice.KindAlias, extract.Fold(text), text, "Your home page names the brand “", "”.")
		}
	}
	host := hostOf(page.URL, statement.canonical)
	isBelow := func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }
	if host != "" && !slices.ContainsFunc(brand.Domains, isBelow) {
		add(advice.KindPage, "domain:"+host, host,
			"Your home page has its address on ", ", no domain of the brand: add it in Settings if it is yours.")
	}
	var prompts need.Prompts
	for _, prompt := range tracked {
		prompts.Add(need.Words(prompt.Text))
	}
	for _, text := range cleaned(statement.questions) {
		if words := need.Words(text); utf8.RuneCountInString(text) < maxText && !prompts.Cover(words) {
			add(advice.KindPrompt, strings.Join(words, " "), text, "Your home page asks “", "”; no prompt asks it.")
		}
	}
	return list, nil
}

// cleaned returns the first texts on one line each.
func cleaned(texts []string) (list []string) {
	for _, text := range texts[:min(len(texts), maxTexts)] {
		list = append(list, advice.OneLine(html.UnescapeString(text), maxText))
	}
	return list
}

// hostOf returns the host of a page's canonical address as domains are stored; "" if it is no domain.
func hostOf(page *url.URL, canonical string) string {
	address, err := page.Parse(strings.TrimSpace(canonical))
	if err != nil {
		return ""
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(address.Hostname(), "."))
	if err != nil || !strings.Contains(host, ".") {
		return ""
	}
	return strings.TrimPrefix(host, "www.")
}
