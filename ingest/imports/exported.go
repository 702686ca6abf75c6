package imports

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// present reports whether a line has a field, whose value is skipped.
type present bool

func (p *present) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*p = true
	return d.SkipValue()
}

// exportedVisit is the JSON of a line. It has other fields than a record where they are named again. As in every line,
// null is the same as an absent field.
type exportedVisit struct {
	event.Visit
	At           instant `json:"at"`
	Visitor      uint64  `json:"visitor,string"`
	GoalName     string  `json:"goal_name"`
	GoalValue    string  `json:"goal_value"` // a decimal number
	GoalCurrency string  `json:"goal_currency"`

	Version      present `json:"v"`
	Organization present `json:"organization_id"`
	Brand        present `json:"brand_id"`
	Goal         present `json:"goal"`
}

type exportedCrawl struct {
	event.Crawl
	At instant `json:"at"`

	Version      present `json:"v"`
	Organization present `json:"organization_id"`
	Brand        present `json:"brand_id"`
}

// parseVisit reads an exported visit, which keeps its id, so that a brand gets it once. The error names, for each wrong
// field, the right value.
func parseVisit(text []byte, now time.Time) (fact, error) {
	var l exportedVisit
	if err := decode(text, &l); err != nil {
		return fact{}, err
	}
	v := l.Visit
	v.OrganizationID, v.BrandID, v.At, v.Visitor = anyID, anyID, event.At(time.Time(l.At)), l.Visitor
	if v.Event == event.VisitGoal || l.GoalName != "" {
		v.Goal = &event.Goal{Name: l.GoalName, Value: l.GoalValue, Currency: l.GoalCurrency}
	}
	encode := func(organization, brand uuid.UUID) ([]byte, error) {
		v.OrganizationID, v.BrandID = organization, brand
		return event.EncodeVisit(nil, &v)
	}
	return fact{id: v.ID, at: v.At.Time, encode: encode}, exportedError(l.At, v.Check(now), v.Path, l.GoalName)
}

// parseCrawl is parseVisit for a crawl.
func parseCrawl(text []byte, now time.Time) (fact, error) {
	var l exportedCrawl
	if err := decode(text, &l); err != nil {
		return fact{}, err
	}
	c := l.Crawl
	c.OrganizationID, c.BrandID, c.At = anyID, anyID, event.At(time.Time(l.At))
	encode := func(organization, brand uuid.UUID) ([]byte, error) {
		c.OrganizationID, c.BrandID = organization, brand
		return event.EncodeCrawl(nil, &c)
	}
	return fact{id: c.ID, at: c.At.Time, encode: encode}, exportedError(l.At, c.Check(now), c.Path)
}

// exportedError names the wrong fields as a line does. texts are those that people read.
func exportedError(at instant, err error, texts ...string) error {
	switch {
	case at.IsZero():
		return fmt.Errorf("at: want %s", wantedTime)
	case err != nil:
		return errors.New(strings.NewReplacer("\n", "; ", "goal.", "goal_").Replace(err.Error()))
	case event.HasControls(strings.Join(texts, "")):
		return errors.New("path and goal_name: want text without control characters")
	}
	return nil
}
