package imports

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// A fact is a line of an export of visits or of crawls. It keeps its id, so that it is counted once in a brand.
type fact struct {
	line  int
	visit *event.Visit // or
	crawl *event.Crawl
}

// present says that a field is there, whatever it holds.
type present bool

func (p *present) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*p = true
	return d.SkipValue()
}

// isFact says whether a line is one that export wrote of a visit or a crawl; an answer has a prompt.
func (l *line) isFact() bool { return bool(l.Event || l.Crawler) && l.Prompt == "" }

// visitLine is the JSON of an exported visit. As in every line, null is the same as an absent field.
type visitLine struct {
	ID           uuid.UUID       `json:"id"`
	At           instant         `json:"at"`
	Event        event.VisitKind `json:"event"`
	Platform     string          `json:"platform"`
	PlatformBy   string          `json:"platform_by"`
	Host         string          `json:"host"`
	Path         string          `json:"path"`
	ReferrerHost string          `json:"referrer_host"`
	Country      string          `json:"country"`
	CountryBy    string          `json:"country_by"`
	Language     string          `json:"language"`
	Screen       string          `json:"screen"`
	TimeZone     string          `json:"time_zone"`
	Session      string          `json:"session"`
	NewSession   bool            `json:"new_session"`
	Visitor      uint64          `json:"visitor,string"`
	GoalName     string          `json:"goal_name"`
	GoalValue    string          `json:"goal_value"` // a decimal number
	GoalCurrency string          `json:"goal_currency"`
	Simulated    bool            `json:"simulated"`
}

// crawlLine is the JSON of an exported crawl.
type crawlLine struct {
	ID        uuid.UUID     `json:"id"`
	At        instant       `json:"at"`
	Crawler   string        `json:"crawler"`
	Operator  string        `json:"operator"`
	Platform  string        `json:"platform"`
	Purpose   event.Purpose `json:"purpose"`
	Host      string        `json:"host"`
	Path      string        `json:"path"`
	Status    int           `json:"status"`
	Bytes     int64         `json:"bytes"`
	Verified  *bool         `json:"verified"`
	Simulated bool          `json:"simulated"`
}

// parseFact reads a line that l was read from. The error says, for each wrong field, what would be right.
func parseFact(l *line, text []byte, now time.Time) (f fact, err error) {
	if l.Crawler {
		f.crawl, err = parseCrawl(text, now)
	} else {
		f.visit, err = parseVisit(text, now)
	}
	return f, err
}

func parseVisit(text []byte, now time.Time) (*event.Visit, error) {
	var l visitLine
	if err := decode(text, &l); err != nil {
		return nil, err
	}
	v := &event.Visit{
		ID: l.ID, OrganizationID: anyID, BrandID: anyID, At: event.At(time.Time(l.At)), Event: l.Event,
		Platform: l.Platform, PlatformBy: l.PlatformBy, Host: l.Host, Path: l.Path, ReferrerHost: l.ReferrerHost,
		Country: l.Country, CountryBy: l.CountryBy, Language: l.Language, Screen: l.Screen, TimeZone: l.TimeZone,
		Session: l.Session, NewSession: l.NewSession, Visitor: l.Visitor, Simulated: l.Simulated,
	}
	if l.Event == event.VisitGoal || l.GoalName != "" {
		v.Goal = &event.Goal{Name: l.GoalName, Value: l.GoalValue, Currency: l.GoalCurrency}
	}
	return v, factError(time.Time(l.At), v.Check(now), l.Path, l.GoalName)
}

func parseCrawl(text []byte, now time.Time) (*event.Crawl, error) {
	var l crawlLine
	if err := decode(text, &l); err != nil {
		return nil, err
	}
	c := &event.Crawl{
		ID: l.ID, OrganizationID: anyID, BrandID: anyID, At: event.At(time.Time(l.At)), Crawler: l.Crawler, Operator: l.Operator,
		Platform: l.Platform, Purpose: l.Purpose, Host: l.Host, Path: l.Path, Status: l.Status, Bytes: l.Bytes,
		Verified: l.Verified, Simulated: l.Simulated,
	}
	return c, factError(time.Time(l.At), c.Check(now), l.Path)
}

// factError is what is wrong with a fact, in the words of its line. shown are texts that people read.
func factError(at time.Time, wrong error, shown ...string) error {
	switch {
	case at.IsZero():
		return fmt.Errorf("at: want %s", wantedTime)
	case wrong != nil:
		return errors.New(strings.NewReplacer("\n", "; ", "goal.", "goal_").Replace(wrong.Error()))
	case event.HasControls(strings.Join(shown, "")):
		return errors.New("path and goal_name: want text without control characters")
	}
	return nil
}

func (f *fact) id() uuid.UUID {
	if f.visit != nil {
		return f.visit.ID
	}
	return f.crawl.ID
}

func (f *fact) at() time.Time {
	if f.visit != nil {
		return f.visit.At.Time
	}
	return f.crawl.At.Time
}

// record is the fact of a brand, whichever it was exported of.
func (f *fact) record(organization, brand uuid.UUID) (r producer.Record, err error) {
	r.Key = event.BrandKey(brand)
	if f.visit != nil {
		f.visit.OrganizationID, f.visit.BrandID = organization, brand
		r.Value, err = event.EncodeVisit(nil, f.visit)
		return r, err
	}
	f.crawl.OrganizationID, f.crawl.BrandID = organization, brand
	r.Value, err = event.EncodeCrawl(nil, f.crawl)
	return r, err
}

// importFacts appends what of the visits or of the crawls of a batch has not landed for the brand.
func (i *importing) importFacts(ctx context.Context, topic string, landings answer.Lookup, facts []fact) error {
	facts, err := withoutFrozen(ctx, i.store, topic, facts,
		func(f fact) time.Time { return f.at() },
		func(f fact, why error) { i.refuse(f.line, uuid.Nil, why) })
	if err != nil || len(facts) == 0 {
		return errors.Join(err, ctx.Err())
	}
	brand := i.brands[0]
	snapshot, err := answer.ReadSnapshot(ctx, i.store, brand)
	if err != nil {
		return err
	}
	landed, err := i.landed(ctx, landings, snapshot.OrganizationID, brand, len(facts), func(n int) uuid.UUID { return facts[n].id() })
	if err != nil {
		return fmt.Errorf("%s: %w", topic, err)
	}
	var records []producer.Record
	for n := range facts {
		if landed[n] {
			continue
		}
		record, err := facts[n].record(snapshot.OrganizationID, brand)
		if err != nil {
			i.refuse(facts[n].line, uuid.Nil, err)
			continue
		}
		records = append(records, record)
	}
	return i.append(ctx, topic, records)
}
