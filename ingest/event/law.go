package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
)

// The laws of a record hold at any time and on every machine, so that readers
// and writers agree on them for ever: Decode holds them, and readers may rely on
// them (a day fits ClickHouse's Date, a decimal text is a Decimal(18, 6), an
// answer is at most a day younger than its id).

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

// idSpan bounds how long after the time in its id an answer may come: it is
// looked up among the days that this allows.
const idSpan = 24 * time.Hour

func (a *Answer) law(p *problems) {
	p.id("id", a.ID)
	p.id("organization_id", a.OrganizationID)
	p.id("brand.id", a.Brand.ID)
	p.filled("brand.name", a.Brand.Name)
	p.least("brand.revision", a.Brand.Revision, 0)
	for i := range a.Competitors {
		if c := &a.Competitors[i]; c.ID.IsNil() || c.Name == "" {
			p.addAt("competitors", i, "", "an id and a name")
		}
	}
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
	if late := a.AnsweredAt.Sub(IDTime(a.ID)); late < 0 || late > idSpan {
		p.add("answered_at", "at most %s after the time in the record's id, %s, got %s", "24 h", At(IDTime(a.ID)), a.AnsweredAt)
	}
	a.partsLaw(p)
}

func (a *Answer) partsLaw(p *problems) {
	for i := range a.Citations {
		if a.Citations[i].URL == "" {
			p.addAt("citations", i, "url", "a URL")
		}
	}
	for i := range a.Products {
		c := &a.Products[i]
		if c.Position < 0 || c.ReviewCount < 0 || !decimal(c.PriceAmount) || !(c.Rating >= 0 && c.Rating <= 1e6) {
			p.addAt("products", i, "", "position, rating and review_count of at least 0 and price_amount as %s", decimalForm)
		}
	}
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
	if m := a.Reread; m != nil {
		p.least("reread.min_extract_version", int64(m.MinExtractVersion), 1)
	}
}

func (v *Visit) law(p *problems) {
	p.id("id", v.ID)
	p.id("organization_id", v.OrganizationID)
	p.id("brand_id", v.BrandID)
	p.era("at", v.At)
	if d := v.At.Sub(IDTime(v.ID)).Abs(); d > idSpan {
		p.add("at", "within %s of the time in the record's id, %s, got %s", "24 h", At(IDTime(v.ID)), v.At)
	}
	oneOf(p, "event", v.Event, kinds)
	p.filled("platform", v.Platform)
	oneOf(p, "platform_by", v.PlatformBy, platformBys)
	p.filled("host", v.Host)
	if !strings.HasPrefix(v.Path, "/") {
		p.add("path", "a path that begins with /, got %.40q", v.Path)
	}
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

func (c *Crawl) law(p *problems) {
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
	if !strings.HasPrefix(c.Path, "/") {
		p.add("path", "a path that begins with /, got %.40q", c.Path)
	}
	if c.Status < 0 || c.Status > maxStatus {
		p.add("status", "a status of HTTP, 0 to %d, got %d", maxStatus, c.Status)
	}
	p.least("bytes", c.Bytes, 0)
}

// maxStatus is the largest number of three digits; servers write 0 where they have
// sent nothing, and 499 or 525 of their own.
const maxStatus = 999

// maxProblems is how many things wrong with a record are told one by one: a
// record can hold millions.
const maxProblems = 10

// problems collects what is wrong with a record; it costs nothing while nothing is.
type problems struct {
	told []error
	more int // beyond those told
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.told, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.told...)
}

func (p *problems) add(field, want string, args ...any) {
	if p.full() {
		return
	}
	p.told = append(p.told, malformed(field, want, args...))
}

// addAt is add for a field of a list's item, "" being the item itself; the path
// is put together only when it is told.
func (p *problems) addAt(list string, i int, field, want string, args ...any) {
	if p.full() {
		return
	}
	p.told = append(p.told, malformed(place(list, i, field), want, args...))
}

// full counts what comes when enough was told.
func (p *problems) full() bool {
	if len(p.told) < maxProblems {
		return false
	}
	p.more++
	return true
}

func place(list string, i int, field string) string {
	if field != "" {
		field = "." + field
	}
	return fmt.Sprintf("%s[%d]%s", list, i, field)
}

func (p *problems) id(field string, id uuid.UUID) {
	if id.IsNil() {
		p.add(field, "a UUID that is not nil")
	}
}

func (p *problems) optionalID(field string, id *uuid.UUID) {
	if id != nil {
		p.id(field, *id)
	}
}

func (p *problems) filled(field, s string) {
	if s == "" {
		p.add(field, "text")
	}
}

func (p *problems) least(field string, n, least int64) {
	if n < least {
		p.add(field, "%d or more, got %d", least, n)
	}
}

func (p *problems) era(field string, t Time) {
	if t.Before(earliest) || !t.Before(latest) {
		p.add(field, "a time from %d to %d, got %s", earliest.Year(), latest.Year()-1, t)
	}
}

func (p *problems) decimal(field, s string) {
	if !decimal(s) {
		p.add(field, "%s, got %.40q", decimalForm, s)
	}
}

func (p *problems) currency(field, s string) {
	if !upper(s, 3) {
		p.add(field, "three capital letters (ISO 4217) or nothing, got %.40q", s)
	}
}

func oneOf[T ~string](p *problems, field string, v T, known []T) {
	if !slices.Contains(known, v) {
		p.add(field, "one of %q, got %.40q", known, v)
	}
}

const decimalForm = "a decimal number as text, at most 12 digits before the point and 6 after it"

// decimal reports whether s is empty or a number that a Decimal(18, 6) holds.
func decimal(s string) bool {
	if s == "" {
		return true
	}
	whole, fraction, point := strings.Cut(s, ".")
	return digits(whole, 12) && (!point || digits(fraction, 6))
}

func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// upper reports whether s is empty or n capital letters of ASCII.
func upper(s string, n int) bool {
	if s == "" {
		return true
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) == n
}
