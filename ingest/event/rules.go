package event

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The rules of validate hold at any time and on every machine, for writers and readers alike: Decode applies them, and
// readers rely on them (a day fits ClickHouse's Date, a decimal text is a Decimal(18, 6), an answer is at most a day
// younger than its id). Check adds the bounds below and the clock, for writers alone.

// The bounds of a record before it is appended, in bytes and in items. They are wide: they keep out texts that are no
// brand's name and no answer, and with MaxValueBytes they bound the cost of a record for every reader.
const (
	MaxText    = 4 << 20  // an answer's text
	MaxPrompt  = 32 << 10 // a prompt's text, a search query
	MaxURL     = 32 << 10
	MaxTitle   = 4 << 10 // a title, an error, a visit's path
	MaxName    = 512     // a name, an alias, a model
	MaxHost    = 253
	MaxLabel   = 64  // a slug, region, language, session, time zone
	MaxNames   = 256 // aliases or domains of one entity
	MaxRivals  = 512 // competitors
	MaxSources = 4096
	MaxCards   = 1024
)

var (
	surfaces    = []Surface{"", SurfaceAPI, SurfaceConsumer}
	finishes    = []Finish{"", FinishComplete, FinishTruncated, FinishFiltered, FinishNotShown}
	kinds       = []VisitKind{VisitView, VisitGoal}
	platformBys = []string{"", "referrer", "utm", "parameter", "referrer_utm", "session"}
	purposes    = []Purpose{PurposeTraining, PurposeSearch, PurposeUser}
	countryBys  = []string{"", "database", "header", "time_zone"}
)

var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// idSpan is how long after the time in its id an answer may be given: look-ups cover the days that this allows.
const idSpan = 24 * time.Hour

// maxStatus is the largest number of three digits; servers write 0 where they have sent nothing, and 499 or 525 of
// their own.
const maxStatus = 999

func (a *Answer) validate(p *problems) {
	p.id("id", a.ID)
	p.id("organization_id", a.OrganizationID)
	p.id("brand.id", a.Brand.ID)
	p.filled("brand.name", a.Brand.Name)
	p.atLeast("brand.revision", a.Brand.Revision, 0)
	for i := range a.Competitors {
		if c := &a.Competitors[i]; c.ID.IsNil() || c.Name == "" {
			p.in("competitors", i).add("", "an id and a name")
		}
	}
	p.in("", 0)
	p.id("prompt.id", a.Prompt.ID)
	p.id("prompt.set_id", a.Prompt.SetID)
	p.filled("prompt.text", a.Prompt.Text)
	p.optionalID("prompt.topic_id", a.Prompt.TopicID)
	p.filled("platform", a.Platform)
	oneOf(p, "surface", a.Surface, surfaces)
	oneOf(p, "finish", a.Finish, finishes)
	p.atLeast("sample", a.Sample, 1)
	p.optionalID("job_id", a.JobID)
	p.atLeast("latency_ms", a.LatencyMS, 0)
	p.atLeast("attempts", int64(a.Attempts), 0)
	p.era("answered_at", a.AnsweredAt)
	if age := a.AnsweredAt.Sub(IDTime(a.ID)); age < 0 || age > idSpan {
		p.add("answered_at", "at most 24 h after the time in the record's id, %s, got %s",
			At(IDTime(a.ID)), a.AnsweredAt)
	}
	for i := range a.Citations {
		if a.Citations[i].URL == "" {
			p.in("citations", i).add("url", "a URL")
		}
	}
	for i := range a.Products {
		c := &a.Products[i]
		if c.Position < 0 || c.ReviewCount < 0 || !isDecimal(c.PriceAmount) || !(c.Rating >= 0 && c.Rating <= 1e6) {
			p.in("products", i).add("",
				"position, rating and review_count of at least 0 and price_amount as %s", decimalForm)
		}
	}
	p.in("", 0)
	if u := a.Usage; u != nil {
		p.atLeast("usage.input_tokens", u.InputTokens, 0)
		p.atLeast("usage.output_tokens", u.OutputTokens, 0)
		p.atLeast("usage.searches", u.Searches, 0)
		p.decimal("usage.cost_usd", u.CostUSD)
	}
	isEmpty := a.Text == "" && len(a.Citations) == 0 && len(a.Products) == 0
	if g := a.GivenUp; g != nil {
		oneOf(p, "given_up.class", g.Class, Classes)
		if !isEmpty {
			p.add("given_up", "no text, citations or products beside it")
		}
	}
	if a.Finish == FinishNotShown && (!isEmpty || a.GivenUp != nil) {
		p.add("finish", "no text, citations, products or given_up beside %q", FinishNotShown)
	}
	if r := a.Reread; r != nil {
		p.atLeast("reread.min_extract_version", int64(r.MinExtractVersion), 1)
	}
}

// Check returns why a may not be appended at now: a MalformedError for each of the first ten problems, and the number
// of the others. (EncodeAnswer refuses a record that is too large as a whole.)
func (a *Answer) Check(now time.Time) error {
	var p problems
	a.validate(&p)
	p.notInFuture("answered_at", a.AnsweredAt, now)
	p.entity("brand.", &a.Brand.Entity)
	p.atMost("competitors", len(a.Competitors), MaxRivals)
	for i := range a.Competitors {
		p.in("competitors", i).entity("", &a.Competitors[i])
	}
	p.in("", 0)
	p.text("prompt.text", a.Prompt.Text, MaxPrompt)
	p.slug("platform", a.Platform)
	p.text("model", a.Model, MaxName)
	p.text("served_model", a.ServedModel, MaxName)
	p.slug("provider", a.Provider)
	p.text("region", a.Region, MaxLabel)
	p.text("language", a.Language, MaxLabel)
	p.text("text", a.Text, MaxText)
	if a.Text == "" && len(a.Products) == 0 && a.GivenUp == nil && a.Finish != FinishNotShown {
		p.add("text", "the answer's text, or finish %q where the surface had none", FinishNotShown)
	}
	p.atMost("citations", len(a.Citations), MaxSources)
	p.texts("search_queries", a.SearchQueries, MaxSources, MaxPrompt)
	p.atMost("products", len(a.Products), MaxCards)
	if a.GivenUp != nil {
		p.text("given_up.error", a.GivenUp.Error, MaxTitle)
	}
	for i := range a.Citations {
		p.in("citations", i).text("url", a.Citations[i].URL, MaxURL)
		p.text("title", a.Citations[i].Title, MaxTitle)
	}
	for i := range a.Products {
		c := &a.Products[i]
		p.in("products", i).text("title", c.Title, MaxTitle)
		p.text("brand", c.Brand, MaxName)
		p.text("merchant", c.Merchant, MaxName)
		p.text("url", c.URL, MaxURL)
		p.text("image_url", c.ImageURL, MaxURL)
		p.currency("price_currency", c.PriceCurrency)
	}
	return p.err()
}

func (p *problems) entity(prefix string, e *Entity) {
	p.text(prefix+"name", e.Name, MaxName)
	p.texts(prefix+"aliases", e.Aliases, MaxNames, MaxName)
	p.atMost(prefix+"domains", len(e.Domains), MaxNames)
	for i, host := range e.Domains {
		letters := "abcdefghijklmnopqrstuvwxyz0123456789.-_"
		if host == "" || len(host) > MaxHost || strings.Trim(host, letters) != "" {
			p.add(fmt.Sprintf("%sdomains[%d]", prefix, i), "a host in lower case and punycode, got %.80q", host)
		}
	}
}

func (v *Visit) validate(p *problems) {
	p.id("id", v.ID)
	p.id("organization_id", v.OrganizationID)
	p.id("brand_id", v.BrandID)
	p.era("at", v.At)
	if d := v.At.Sub(IDTime(v.ID)).Abs(); d > idSpan {
		p.add("at", "within 24 h of the time in the record's id, %s, got %s", At(IDTime(v.ID)), v.At)
	}
	oneOf(p, "event", v.Event, kinds)
	p.filled("platform", v.Platform)
	oneOf(p, "platform_by", v.PlatformBy, platformBys)
	p.filled("host", v.Host)
	p.path(v.Path)
	if !upper(v.Country, 2) {
		p.add("country", "two capital letters (ISO 3166-1) or nothing, got %.40q", v.Country)
	}
	oneOf(p, "country_by", v.CountryBy, countryBys)
	switch g := v.Goal; {
	case (v.Event == VisitGoal) != (g != nil):
		p.add("goal", "a goal exactly where event is %q", VisitGoal)
	case g != nil:
		p.filled("goal.name", g.Name)
		p.decimal("goal.value", strings.TrimPrefix(g.Value, "-"))
		p.currency("goal.currency", g.Currency)
	}
}

// Check returns why v may not be appended at now, as Answer.Check does.
func (v *Visit) Check(now time.Time) error {
	var p problems
	v.validate(&p)
	p.notInFuture("at", v.At, now)
	p.slug("platform", v.Platform)
	p.text("host", v.Host, MaxHost)
	p.text("path", v.Path, MaxTitle)
	p.text("referrer_host", v.ReferrerHost, MaxHost)
	p.text("language", v.Language, MaxLabel)
	p.text("screen", v.Screen, MaxLabel)
	p.text("time_zone", v.TimeZone, MaxLabel)
	p.text("session", v.Session, MaxLabel)
	if v.Goal != nil {
		p.text("goal.name", v.Goal.Name, MaxName)
	}
	return p.err()
}

func (c *Crawl) validate(p *problems) {
	p.id("id", c.ID)
	p.id("organization_id", c.OrganizationID)
	p.id("brand_id", c.BrandID)
	p.era("at", c.At)
	if !c.At.Equal(IDTime(c.ID)) {
		p.add("at", "the time in the record's id, %s, got %s", At(IDTime(c.ID)), c.At)
	}
	p.filled("crawler", c.Crawler)
	oneOf(p, "purpose", c.Purpose, purposes)
	p.filled("host", c.Host)
	p.path(c.Path)
	if c.Status < 0 || c.Status > maxStatus {
		p.add("status", "a status of HTTP, 0 to %d, got %d", maxStatus, c.Status)
	}
	p.atLeast("bytes", c.Bytes, 0)
}

// Check returns why c may not be appended at now, as Answer.Check does.
func (c *Crawl) Check(now time.Time) error {
	var p problems
	c.validate(&p)
	p.notInFuture("at", c.At, now)
	p.text("crawler", c.Crawler, MaxName)
	p.text("operator", c.Operator, MaxName)
	p.slug("platform", c.Platform)
	p.text("host", c.Host, MaxHost)
	p.text("path", c.Path, MaxTitle)
	return p.err()
}

// upper reports whether s is empty or n capital letters of ASCII.
func upper(s string, n int) bool {
	return s == "" || len(s) == n && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}

func oneOf[T ~string](p *problems, field string, v T, allowed []T) {
	if !slices.Contains(allowed, v) {
		p.add(field, "one of %q, got %.40q", allowed, v)
	}
}
