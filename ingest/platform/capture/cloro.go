package capture

import (
	"cmp"
	"context"
	"math/big"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// cloro captures by jobs. The limits suit a small plan.
var cloro = provider{
	Description: platform.Description{
		Slug: "cloro", Name: "Cloro", NeedsKey: true, TakesRegion: true,
		Limits: platform.Limits{RequestsPerMinute: 120, InFlight: 20},
	},
	baseURL: "https://api.cloro.dev", authorize: wire.Bearer,
	submit: submitCloro, read: readCloro,
	ignored: []string{"relatedLinks", "images", "videos", "ads", "places", "map"},
	jobs: jobs{
		job: "/v1/async/task/", status: "task.status",
		states: map[string]state{
			"QUEUED": queued, "PENDING": queued, "CREATED": queued, "SCHEDULED": queued,
			"COMPLETED": ready, "FAILED": failed,
		},
	},
}

func submitCloro(ctx context.Context, r request) (submission, error) {
	include := wire.Object{"markdown": true, "searchQueries": true}
	payload := wire.Object{"prompt": r.Text, "include": include}
	if r.isOverview() { // whose queries would cost two credits more
		include = wire.Object{"markdown": true, "aioverview": wire.Object{"markdown": true}}
		payload = wire.Object{"query": r.Text, "include": include}
	}
	if r.surface == "chatgpt-shopping" { // the page for telephones, which it takes else, has no cards
		include["shopping"], payload["legacy"] = true, true
	}
	payload["country"] = r.country.String() // required, so the United States without a region
	task := wire.Object{"taskType": r.offer.source, "payload": payload, "idempotencyKey": r.id}
	if r.notify != "" {
		task["webhook"] = wire.Object{"url": r.notify}
	}
	return r.postJob(ctx, "/v1/async/task", task, "task.id")
}

func readCloro(a *answer) error {
	a.chargeCredits()
	content := a.page.Object("response")
	if content["error"] != nil || a.page.Value("task.error") != nil {
		return a.unavailable("the task failed: %s", reason(a.page))
	}
	if inner := content.Object("result"); inner != nil {
		content = inner
	}
	if a.request.isOverview() {
		overview, isNamed := content["aioverview"]
		_, isPage := content["organicResults"].([]any)
		if overview == nil && (isNamed || isPage) { // null in the guide, omitted in the schema
			return a.notShown(content)
		}
		content = content.Object("aioverview")
	}
	if content == nil {
		return wire.ChangedShape("the response is missing")
	}
	a.content = content
	a.text, a.model = text(content, "markdown", "text"), content.Text("model")
	a.pages(content, "citationPills", "url", "label|title", a.cite)
	sources := a.cite
	if len(content.List("citationPills")) > 0 {
		sources = a.consult
	}
	a.pages(content, "sources", "url", "label|title", sources)
	a.search(content["searchQueries"])
	a.search(content["search_model_queries"])
	for _, list := range []string{"shoppingCards", "shopping_cards", "inlineProducts"} {
		a.sell(content, list)
	}
	return nil
}

// chargeCredits charges the credits that the task reports.
func (a *answer) chargeCredits() {
	credits, _ := event.Decimal(a.page.Decimal("credits.creditsCharged"))
	if number, ok := new(big.Rat).SetString(credits); ok {
		price, _ := new(big.Rat).SetString(cmp.Or(a.request.account.settings.CreditUSD, defaultCredit))
		a.charge(price.Mul(price, number).FloatString(9))
	}
}
