package capture

import (
	"context"
	"math/big"
	"net/url"

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
	submit: submitCloro, fetch: fetchCloro, read: readCloro,
}

func submitCloro(ctx context.Context, r request) (submission, error) {
	include := wire.Object{"markdown": true, "searchQueries": true}
	payload := wire.Object{"prompt": r.Text, "include": include}
	if r.isOverview() { // whose queries would cost two credits more
		include = wire.Object{"markdown": true, "aioverview": wire.Object{"markdown": true}}
		payload = wire.Object{"query": r.Text, "include": include}
	}
	if r.surface == "chatgpt-shopping" {
		include["shopping"] = true
	}
	if r.Region != "" {
		payload["country"] = r.country()
	}
	task := wire.Object{"taskType": r.source, "payload": payload}
	if r.id != "" {
		task["idempotencyKey"] = r.id
	}
	if r.notify != "" {
		task["webhook"] = wire.Object{"url": r.notify}
	}
	return r.postJob(ctx, "/v1/async/task", task, "task.id")
}

func fetchCloro(ctx context.Context, a account, jobID string) ([]byte, state, error) {
	body, raw, err := a.getJob(ctx, "/v1/async/task/"+url.PathEscape(jobID))
	if err != nil {
		return nil, running, err
	}
	switch body.Text("task.status") {
	case "QUEUED", "PENDING", "CREATED", "SCHEDULED":
		return nil, queued, nil
	case "COMPLETED":
		return raw, ready, nil
	case "FAILED":
		return nil, failed, a.Unavailable("the task failed: %s", cloroFailure(body))
	}
	return nil, running, nil
}

// cloroFailure returns the reason that a task or its response gives, a text or an object.
func cloroFailure(body wire.Object) string {
	return firstText(body,
		"task.error", "task.error.message", "response.error", "response.error.message", "error.message")
}

func readCloro(r request, payload []byte) (platform.Reply, error) {
	body, err := wire.Decode(payload)
	if err != nil {
		return platform.Reply{}, err
	}
	content := body.Object("response")
	if content["error"] != nil || body.Value("task.error") != nil {
		return platform.Reply{}, r.account.Unavailable("the task failed: %s", cloroFailure(body))
	}
	if inner := content.Object("result"); inner != nil {
		content = inner
	}
	cost := cloroCost(body, r.account.creditUSD)
	if r.isOverview() {
		if overview, ok := content["aioverview"]; ok && overview == nil {
			return notShown(content, cost)
		}
		content = content.Object("aioverview")
	}
	if content == nil {
		return platform.Reply{}, wire.ChangedShape("the response is missing")
	}
	a := answer{request: r}
	if err := a.cloroPages(content); err != nil {
		return platform.Reply{}, err
	}
	for _, path := range []string{"searchQueries", "search_model_queries"} {
		for _, query := range texts(content, path) {
			a.search(query)
		}
	}
	for _, path := range []string{"shoppingCards", "shopping_cards", "inlineProducts"} {
		if err := a.cloroCards(content, path); err != nil {
			return platform.Reply{}, err
		}
	}
	return a.reply(firstText(content, "markdown", "text"), content.Text("model"), cost)
}

// cloroPages cites the pills in the text and consults the sources. Without pills the sources are cited.
func (a *answer) cloroPages(content wire.Object) error {
	if err := pages(content, "citationPills", "url", "label|title", a.cite); err != nil {
		return err
	}
	add := a.cite
	if len(content.List("citationPills")) > 0 {
		add = a.consult
	}
	return pages(content, "sources", "url", "label|title", add)
}

// cloroCards reads cards, which stand in a list or in groups.
func (a *answer) cloroCards(content wire.Object, path string) error {
	if _, ok := content[path].([]any); !ok && content[path] != nil {
		return wire.ChangedShape("%s is no list", path)
	}
	var cards []wire.Object
	for _, card := range content.List(path) {
		if group := card.List("products"); len(group) > 0 {
			a.sell(group)
			continue
		}
		cards = append(cards, card)
	}
	a.sell(cards)
	return nil
}

// cloroCost returns the cost of the credits that were charged; "" where their number is missing.
func cloroCost(body wire.Object, creditUSD string) string {
	price, ok := new(big.Rat).SetString(creditUSD)
	credits, charged := new(big.Rat).SetString(body.Decimal("credits.creditsCharged"))
	if !ok || !charged {
		return ""
	}
	cost, _ := event.Decimal(price.Mul(price, credits).FloatString(9))
	return cost
}
