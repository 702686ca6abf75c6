package metrics

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// answerBody answers GET /api/v1/answers/{id}.
type answerBody struct {
	answerRow
	Text          string           `json:"text"`
	Mentions      []mentionBody    `json:"mentions"`         // the first maxMentions of the text
	Omitted       int              `json:"mentions_omitted"` // mentions after those
	Citations     []answerCitation `json:"citations"`        // in the order of the answer
	SearchQueries []string         `json:"search_queries"`
	Products      []productBody    `json:"products"`
	Usage         *answerUsage     `json:"usage"` // null: unknown, as the cost
	Cost          *json.Number     `json:"cost"`  // US dollars
	JobID         *string          `json:"job_id"`
}

// maxMentions bounds the body: of a text of 4 MB that is all names it would have 100 MB.
const maxMentions = 1000

// mentionBody is a mention of the brand or a competitor in the text.
type mentionBody struct {
	EntityID string `json:"entity_id"`
	Name     string `json:"name"` // the current one
	Role     string `json:"role"` // brand, competitor
	Start    int    `json:"start"`
	End      int    `json:"end"`
}

type answerCitation struct {
	URL      string `json:"url"`
	Title    string `json:"title"`
	Domain   string `json:"domain"`
	Category string `json:"category"`
	Cited    bool   `json:"cited"` // false: only consulted
}

type answerUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Searches     int64 `json:"searches"`
}

// errNoAnswer is also the answer for another organization's answer.
var errNoAnswer = problem.New(problem.Missing,
	"id: no such answer in your organization; GET /api/v1/answers lists those of a brand")

func (a *API) answer(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	id := q.requiredID("id", "the id of an answer that GET /api/v1/answers lists, a UUID")
	filter := clickhouse.Filter{OrganizationID: clickhouse.UUID(caller.OrganizationID)} // of any day
	shared := caller.LinkID != uuid.Nil
	if shared { // its link may fix filters
		filter = q.commonOrAllTime(a.now()).filter(caller.OrganizationID)
	}
	brands := q.ids("brand_id", "the id of the answer's brand, a UUID, or no such parameter")
	if err := q.check(); err != nil {
		return nil, err
	}
	for _, brand := range brands {
		filter.BrandID = brand
		if _, err := a.findBrand(ctx, caller, uuid.UUID(brand)); err != nil {
			return nil, err
		}
	}
	answer, err := clickhouse.FindAnswer(ctx, a.warehouse, filter, clickhouse.UUID(id))
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, errNoAnswer
	}
	names, err := a.db.Snapshot(ctx, uuid.UUID(answer.BrandID))
	if errors.Is(err, postgres.ErrNotFound) { // the brand is deleted, and its answers not yet
		return nil, errNoAnswer
	}
	if err != nil {
		return nil, err
	}
	body := newAnswerBody(answer, names)
	if shared {
		body.Usage, body.Cost, body.JobID = nil, nil, nil
	}
	return body, nil
}

func newAnswerBody(a *clickhouse.OneAnswer, names postgres.Snapshot) answerBody {
	mentions, omitted := locateMentions(&a.ListedAnswer, names)
	body := answerBody{
		answerRow: newAnswerRow(&a.ListedAnswer, names), Text: a.Text, Mentions: mentions, Omitted: omitted,
		Citations: make([]answerCitation, len(a.CitationURLs)), SearchQueries: append([]string{}, a.SearchQueries...),
		Products: make([]productBody, len(a.CardTitles)), JobID: nullIfNil(a.JobID),
	}
	for i := range body.Citations {
		body.Citations[i] = answerCitation{
			a.CitationURLs[i], a.CitationTitles[i], a.CitationDomains[i], a.CitationSourceTypes[i], a.CitationCited[i],
		}
	}
	for i := range body.Products {
		body.Products[i] = newProductBody(clickhouse.Card{
			Position: a.CardPositions[i], Title: a.CardTitles[i], Brand: a.CardBrands[i],
			PriceAmount: a.CardPriceAmounts[i], PriceCurrency: a.CardPriceCurrencies[i], ImageURL: a.CardImageURLs[i],
			Merchant: a.CardMerchants[i], MerchantURL: a.CardMerchantURLs[i], MerchantDomain: a.CardMerchantDomains[i],
			Rating: a.CardRatings[i], ReviewCount: a.CardReviewCounts[i], MatchedID: a.CardMatchedIDs[i],
			Role: a.CardRoles[i],
		})
	}
	if a.InputTokens != 0 || a.OutputTokens != 0 || a.Searches != 0 || !a.CostUSD.IsZero() {
		body.Usage = &answerUsage{a.InputTokens, a.OutputTokens, a.Searches}
		body.Cost = exact(a.CostUSD.String())
	}
	return body
}

// locateMentions reads the text with the current names, and counts the mentions that it omits. For some seconds after
// an edit of names the reading may still count by the names before it.
func locateMentions(a *clickhouse.ListedAnswer, names postgres.Snapshot) (mentions []mentionBody, omitted int) {
	brand := brandEntity(names)
	entities := []mentionBody{{EntityID: names.BrandID.String(), Name: names.Name, Role: "brand"}}
	var rivals []extract.Entity
	for _, c := range names.Competitors {
		rivals = append(rivals, extract.Entity(c))
		entities = append(entities, mentionBody{EntityID: c.ID.String(), Name: c.Name, Role: "competitor"})
	}
	located := extract.Locate(int(a.ExtractVersion), a.Text, &brand, rivals)
	mentions = make([]mentionBody, min(len(located), maxMentions))
	for i := range mentions {
		mentions[i] = entities[located[i].Entity]
		mentions[i].Start, mentions[i].End = located[i].Start, located[i].End
	}
	return mentions, len(located) - len(mentions)
}
