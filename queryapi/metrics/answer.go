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
	Products      []answerProduct  `json:"products"`
	Usage         *answerUsage     `json:"usage"` // null: unknown, as the cost
	Cost          *json.Number     `json:"cost"`  // US dollars
	JobID         *string          `json:"job_id"`
}

// maxMentions bounds the body: of a text of 4 MB that is all names it would have 100 MB.
const maxMentions = 1000

// mentionBody is where the text names the brand or a competitor.
type mentionBody struct {
	EntityID string `json:"entity_id"`
	Name     string `json:"name"` // as it is called now
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

// answerProduct is a shopping card without what it has of its answer.
type answerProduct struct {
	Position         uint32       `json:"position"`
	ProductTitle     string       `json:"product_title"`
	ProductBrand     string       `json:"product_brand"`
	PriceAmount      *json.Number `json:"price_amount"`
	PriceCurrency    string       `json:"price_currency"`
	ImageURL         string       `json:"image_url"`
	MerchantURL      string       `json:"merchant_url"`
	MerchantDomain   string       `json:"merchant_domain"`
	Rating           *float64     `json:"rating"`
	ReviewCount      *int64       `json:"review_count"`
	MatchedBrandID   *string      `json:"matched_brand_id"`
	MatchedBrandRole string       `json:"matched_brand_role"`
}

type answerUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Searches     int64 `json:"searches"`
}

// errNoAnswer is of another organization's answer, too.
var errNoAnswer = problem.New(problem.Missing, "id: no such answer in your organization; GET /api/v1/answers lists those of a brand")

func (a *API) answer(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	id := q.requiredID("id", "the id of an answer that GET /api/v1/answers lists, a UUID")
	var brands []clickhouse.UUID
	if brand := q.id("brand_id", "the id of the answer's brand, a UUID, or no such parameter"); brand != nil {
		if _, err := a.brand(ctx, caller, *brand, q); err != nil {
			return nil, err
		}
		brands = []clickhouse.UUID{clickhouse.UUID(*brand)}
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	found, err := clickhouse.FindAnswer(ctx, a.warehouse, clickhouse.UUID(caller.OrganizationID), brands, clickhouse.UUID(id))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errNoAnswer
	}
	names, err := a.db.Snapshot(ctx, uuid.UUID(found.BrandID))
	if errors.Is(err, postgres.ErrNotFound) { // deleted, and its answers not yet
		return nil, errNoAnswer
	}
	if err != nil {
		return nil, err
	}
	return answerOf(found, names), nil
}

func answerOf(a *clickhouse.OneAnswer, names postgres.Snapshot) answerBody {
	mentions, omitted := mentionsOf(&a.ListedAnswer, names)
	body := answerBody{
		answerRow: answerRowOf(&a.ListedAnswer, names), Text: a.Text, Mentions: mentions, Omitted: omitted,
		Citations: make([]answerCitation, len(a.CitationURLs)), SearchQueries: append([]string{}, a.SearchQueries...),
		Products: make([]answerProduct, len(a.CardTitles)), JobID: idUnlessNil(a.JobID),
	}
	for i := range body.Citations {
		body.Citations[i] = answerCitation{a.CitationURLs[i], a.CitationTitles[i], a.CitationDomains[i], a.CitationSourceTypes[i], a.CitationCited[i]}
	}
	for i := range body.Products {
		body.Products[i] = productOf(a, i)
	}
	if a.InputTokens != 0 || a.OutputTokens != 0 || a.Searches != 0 || !a.CostUSD.IsZero() {
		body.Usage = &answerUsage{a.InputTokens, a.OutputTokens, a.Searches}
		body.Cost = exact(a.CostUSD.String())
	}
	return body
}

// mentionsOf reads the text with the names of now, and counts the mentions that it omits. While an edit of names is being read again, for some seconds, the
// reading may still count by those before it.
func mentionsOf(a *clickhouse.ListedAnswer, names postgres.Snapshot) (mentions []mentionBody, omitted int) {
	brand := brandOf(names)
	who := []mentionBody{{EntityID: names.BrandID.String(), Name: names.Name, Role: "brand"}}
	var rivals []extract.Entity
	for _, c := range names.Competitors {
		rivals = append(rivals, extract.Entity(c))
		who = append(who, mentionBody{EntityID: c.ID.String(), Name: c.Name, Role: "competitor"})
	}
	located := extract.Locate(int(a.ExtractVersion), a.Text, &brand, rivals)
	mentions = make([]mentionBody, min(len(located), maxMentions))
	for i := range mentions {
		mentions[i] = who[located[i].Entity]
		mentions[i].Start, mentions[i].End = located[i].Start, located[i].End
	}
	return mentions, len(located) - len(mentions)
}

func productOf(a *clickhouse.OneAnswer, i int) answerProduct {
	product := answerProduct{
		Position: a.CardPositions[i], ProductTitle: a.CardTitles[i], ProductBrand: a.CardBrands[i],
		PriceCurrency: a.CardPriceCurrencies[i], ImageURL: a.CardImageURLs[i], MerchantURL: a.CardMerchantURLs[i],
		MerchantDomain: a.CardMerchantDomains[i], Rating: a.CardRatings[i], ReviewCount: a.CardReviewCounts[i],
		MatchedBrandID: idUnlessNil(a.CardMatchedIDs[i]), MatchedBrandRole: a.CardRoles[i],
	}
	if price := a.CardPriceAmounts[i]; price != nil {
		product.PriceAmount = exact(price.String())
	}
	return product
}
