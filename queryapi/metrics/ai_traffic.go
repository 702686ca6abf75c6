package metrics

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// trafficBody answers GET /api/v1/ai-traffic: the views that AI platforms sent to the brand's site, and their goals.
type trafficBody struct {
	TotalVisits       int64             `json:"total_visits"`
	PlatformBreakdown []platformTraffic `json:"platform_breakdown"`
	TopPages          []pageTraffic     `json:"top_pages"` // ten at most
	CountryBreakdown  []countryTraffic  `json:"country_breakdown"`
	Sessions          int64             `json:"sessions"`      // views that began one
	Goals             []goalTraffic     `json:"goals"`         // a row for each name and currency, a hundred at most
	TotalGoals        uint64            `json:"total_goals"`   // rows without that limit
	LandingPages      []landingTraffic  `json:"landing_pages"` // ten at most
	Buckets           []trafficBucket   `json:"buckets"`       // nil without granularity
	Comparison        *trafficChange    `json:"comparison"`    // nil without compare
}

type platformTraffic struct {
	Platform string `json:"platform"`
	Visits   int64  `json:"visits"`
}

type pageTraffic struct {
	URL    string `json:"url"` // a path, on any of the brand's hosts
	Visits int64  `json:"visits"`
}

type countryTraffic struct {
	Country *string `json:"country"` // ISO 3166-1 alpha-2, null unknown
	Visits  int64   `json:"visits"`
}

type goalTraffic struct {
	Name     string      `json:"name"`
	Count    int64       `json:"count"`
	Value    json.Number `json:"value"`    // exact, never a float
	Currency *string     `json:"currency"` // ISO 4217, null unknown
}

type landingTraffic struct {
	URL      string `json:"url"` // a path
	Sessions int64  `json:"sessions"`
}

// trafficBucket has the visits that a platform sent in a bucket.
type trafficBucket struct {
	Date     string         `json:"date"` // the bucket's first day, which may lie before the window
	Platform string         `json:"platform"`
	Visits   int64          `json:"visits"`
	Sessions int64          `json:"sessions"`
	Goals    int64          `json:"goals"`
	Values   []trafficValue `json:"values"` // other than 0, by currency
}

type trafficValue struct {
	Currency *string     `json:"currency"` // ISO 4217, null unknown
	Value    json.Number `json:"value"`    // exact, never a float
}

// trafficChange compares a window with as many days before it. Counts have no interval.
type trafficChange struct {
	Window   windowBody  `json:"window"` // the days before
	Visits   countChange `json:"visits"`
	Sessions countChange `json:"sessions"`
	Goals    countChange `json:"goals"`

	// Buckets count the days before, also those without visits; nil without granularity.
	Buckets []trafficTotal `json:"buckets" csv:"-"`
}

// trafficTotal has the visits that all platforms sent in a bucket.
type trafficTotal struct {
	Date     string         `json:"date"` // as of trafficBucket
	Visits   int64          `json:"visits"`
	Sessions int64          `json:"sessions"`
	Goals    int64          `json:"goals"`
	Values   []trafficValue `json:"values"`
}

type countChange struct {
	Before     int64 `json:"before"`
	Difference int64 `json:"difference"` // the window's count minus before
}

func (a *API) aiTraffic(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.commonOfVisits(a.now())
	granularity := q.optionalGranularity()
	compare := q.oneOf("compare", "none", "previous") == "previous"
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter, before := p.trafficFilter(caller.OrganizationID), p.window.daysBefore(int(p.window.days()))
	var rows []clickhouse.Traffic
	var buckets []clickhouse.VisitBucket
	var changes []clickhouse.TrafficChange
	var totals []clickhouse.VisitTotal
	queries := []queryFunc{fetch(&rows, clickhouse.AITraffic, filter)}
	if granularity != "" {
		bucketFilter := clickhouse.TrafficBucketFilter{TrafficFilter: filter, Granularity: granularity}
		queries = append(queries, fetch(&buckets, clickhouse.VisitBuckets, bucketFilter))
	}
	if compare {
		changeFilter := clickhouse.TrafficChangeFilter{TrafficFilter: filter, BeforeFrom: dateOf(before.from)}
		queries = append(queries, fetch(&changes, clickhouse.VisitChange, changeFilter))
	}
	if compare && granularity != "" {
		totalFilter := clickhouse.TrafficBucketFilter{TrafficFilter: filter, Granularity: granularity}
		totalFilter.DateFrom, totalFilter.DateTo = dateOf(before.from), dateOf(before.to)
		queries = append(queries, fetch(&totals, clickhouse.VisitTotals, totalFilter))
	}
	if err := a.runAll(ctx, queries...); err != nil {
		return nil, err
	}
	body := trafficBody{
		PlatformBreakdown: []platformTraffic{}, TopPages: []pageTraffic{}, CountryBreakdown: []countryTraffic{},
		Goals: []goalTraffic{}, LandingPages: []landingTraffic{},
	}
	for _, r := range rows {
		switch r.Facet {
		case clickhouse.FacetTotal:
			body.TotalVisits, body.Sessions = r.Visits, r.Sessions
		case clickhouse.FacetPlatform:
			body.PlatformBreakdown = append(body.PlatformBreakdown, platformTraffic{r.Name, r.Visits})
		case clickhouse.FacetPage:
			body.TopPages = append(body.TopPages, pageTraffic{r.Name, r.Visits})
		case clickhouse.FacetCountry:
			body.CountryBreakdown = append(body.CountryBreakdown, countryTraffic{nullIfEmpty(r.Name), r.Visits})
		case clickhouse.FacetGoal:
			body.TotalGoals = r.OfFacet
			value := json.Number(r.Value.String())
			body.Goals = append(body.Goals, goalTraffic{r.Name, r.Visits, value, nullIfEmpty(r.Currency)})
		case clickhouse.FacetLanding:
			body.LandingPages = append(body.LandingPages, landingTraffic{r.Name, r.Sessions})
		}
	}
	if granularity != "" {
		body.Buckets = newTrafficBuckets(buckets)
	}
	for _, c := range changes {
		body.Comparison = &trafficChange{
			before.body(),
			countChange{c.VisitsBefore, c.VisitsDifference},
			countChange{c.SessionsBefore, c.SessionsDifference},
			countChange{c.GoalsBefore, c.GoalsDifference},
			newTrafficTotals(totals),
		}
	}
	return body, nil
}

func newTrafficBuckets(rows []clickhouse.VisitBucket) []trafficBucket {
	buckets := make([]trafficBucket, len(rows))
	for i, r := range rows {
		values := newTrafficValues(r.Currencies, r.Amounts)
		buckets[i] = trafficBucket{dayText(r.Bucket), r.Platform, r.Visits, r.Sessions, r.Goals, values}
	}
	return buckets
}

func newTrafficTotals(rows []clickhouse.VisitTotal) []trafficTotal {
	var totals []trafficTotal
	for _, r := range rows {
		values := newTrafficValues(r.Currencies, r.Amounts)
		totals = append(totals, trafficTotal{dayText(r.Bucket), r.Visits, r.Sessions, r.Goals, values})
	}
	return totals
}

func newTrafficValues[A fmt.Stringer](currencies []string, amounts []A) []trafficValue {
	values := make([]trafficValue, len(currencies))
	for i, currency := range currencies {
		values[i] = trafficValue{nullIfEmpty(currency), json.Number(amounts[i].String())}
	}
	return values
}

// trafficFilter returns the filter of visits and crawls.
func (p commonParams) trafficFilter(organization uuid.UUID) clickhouse.TrafficFilter {
	f := p.filter(organization)
	return clickhouse.TrafficFilter{
		OrganizationID: f.OrganizationID, BrandID: f.BrandID,
		DateFrom: f.DateFrom, DateTo: f.DateTo, Platforms: f.Platforms,
	}
}
