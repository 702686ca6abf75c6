package event

import (
	"slices"
	"strings"
	"time"
)

// The rules of this file hold at any time and on every machine, for writers and readers alike: Decode applies them, and
// readers rely on them (a day fits ClickHouse's Date, a decimal text is a Decimal(18, 6), an answer is at most a day
// younger than its id).

// Classes are the error classes of a given-up run.
var Classes = []string{"rate_limited", "quota", "auth", "invalid", "unavailable", "timeout", "content_filtered", "changed_shape"}

var (
	surfaces    = []Surface{"", SurfaceAPI, SurfaceConsumer}
	finishes    = []Finish{"", FinishComplete, FinishTruncated, FinishFiltered}
	kinds       = []VisitKind{VisitView, VisitGoal}
	platformBys = []string{"", "referrer", "utm", "parameter", "referrer_utm", "session"}
	purposes    = []Purpose{PurposeTraining, PurposeSearch, PurposeUser}
	countryBys  = []string{"", "database", "header", "time_zone"}
)

var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// idSpan is how long after the time in its id an answer may be given: it is looked up on the days that this allows.
const idSpan = 24 * time.Hour

// maxStatus is the largest number of three digits; servers write 0 where they have sent nothing, and 499 or 525 of
// their own.
const maxStatus = 999

func (a *Answer) validate(p *problems) {
	p.id("id", a.ID)
	p.id("organization_id", a.OrganizationID)
	p.id("brand.id", a.Brand.ID)
	p.filled("brand.name", a.Brand.Name)
	p.least("brand.revision", a.Brand.Revision, 0)
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
	p.least("sample", a.Sample, 1)
	p.optionalID("job_id", a.JobID)
	p.least("latency_ms", a.LatencyMS, 0)
	p.least("attempts", int64(a.Attempts), 0)
	p.era("answered_at", a.AnsweredAt)
	if age := a.AnsweredAt.Sub(IDTime(a.ID)); age < 0 || age > idSpan {
		p.add("answered_at", "at most 24 h after the time in the record's id, %s, got %s", At(IDTime(a.ID)), a.AnsweredAt)
	}
	for i := range a.Citations {
		if a.Citations[i].URL == "" {
			p.in("citations", i).add("url", "a URL")
		}
	}
	for i := range a.Products {
		c := &a.Products[i]
		if c.Position < 0 || c.ReviewCount < 0 || !isDecimal(c.PriceAmount) || !(c.Rating >= 0 && c.Rating <= 1e6) {
			p.in("products", i).add("", "position, rating and review_count of at least 0 and price_amount as %s", decimalForm)
		}
	}
	p.in("", 0)
	a.validateEnd(p)
}

// validateEnd checks what a run cost and how it ended.
func (a *Answer) validateEnd(p *problems) {
	if u := a.Usage; u != nil {
		p.least("usage.input_tokens", u.InputTokens, 0)
		p.least("usage.output_tokens", u.OutputTokens, 0)
		p.least("usage.searches", u.Searches, 0)
		p.decimal("usage.cost_usd", u.CostUSD)
	}
	if g := a.GivenUp; g != nil {
		oneOf(p, "given_up.class", g.Class, Classes)
		if a.Text != "" || len(a.Citations) > 0 || len(a.Products) > 0 {
			p.add("given_up", "no text, citations or products beside it")
		}
	}
	if r := a.Reread; r != nil {
		p.least("reread.min_extract_version", int64(r.MinExtractVersion), 1)
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
	p.least("bytes", c.Bytes, 0)
}

// upper reports whether s is empty or n capital letters of ASCII.
func upper(s string, n int) bool {
	return s == "" || len(s) == n && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}

func oneOf[T ~string](p *problems, field string, v T, known []T) {
	if !slices.Contains(known, v) {
		p.add(field, "one of %q, got %.40q", known, v)
	}
}
