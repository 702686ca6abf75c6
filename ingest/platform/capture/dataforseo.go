package capture

import (
	"cmp"
	"context"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// dataForSEO answers at once. The limits suit a new account.
var dataForSEO = provider{
	Description: platform.Description{
		Slug: "dataforseo", Name: "DataForSEO", NeedsKey: true, TakesRegion: true,
		Limits: platform.Limits{RequestsPerMinute: 2000, InFlight: 30},
	},
	baseURL: "https://api.dataforseo.com", authorize: wire.Basic, hasUser: true,
	submit: submitDataForSEO, read: readDataForSEO,
}

// escapedKeyword writes the two characters that DataForSEO decodes.
var escapedKeyword = strings.NewReplacer("%", "%25", "+", "%2B")

func submitDataForSEO(ctx context.Context, r request) (submission, error) {
	region, err := r.place()
	if err != nil {
		return submission{}, err
	}
	task := wire.Object{
		"keyword": escapedKeyword.Replace(r.Text), "location_code": countryCode + region.M49(),
	}
	if name := chineseNames[r.googleLanguage()]; name != "" {
		task["language_name"] = name // since its lists differ in the code
	} else {
		base, _ := r.languageTag().Base()
		task["language_code"] = base.String()
	}
	switch r.source {
	case "ai_optimization/chat_gpt/llm_scraper":
		task["force_web_search"] = true
	case "serp/google/organic":
		task["load_async_ai_overview"] = true
	}
	payload, err := r.account.Post(ctx, "/v3/"+r.source+"/live/advanced", []wire.Object{task})
	return submission{payload: payload}, err
}

// countryCode is added to a country's number in ISO 3166.
const countryCode = 2000

var chineseNames = map[string]string{"zh-cn": "Chinese (Simplified)", "zh-tw": "Chinese (Traditional)"}

// dataForSEOClass returns the class of a task's status.
func dataForSEOClass(status int64) platform.Class {
	switch {
	case status == 40100:
		return platform.Auth
	case status == 40200 || status == 40210:
		return platform.Quota
	case status == 40202:
		return platform.RateLimited
	case status/100 == 405:
		return platform.Invalid
	}
	return platform.Unavailable
}

func readDataForSEO(r request, payload []byte) (platform.Reply, error) {
	body, err := wire.Decode(payload)
	if err != nil {
		return platform.Reply{}, err
	}
	task := body
	if tasks := body.List("tasks"); len(tasks) > 0 {
		task = tasks[0]
	}
	switch status, ok := task.Number("status_code"); {
	case !ok:
		return platform.Reply{}, wire.ChangedShape("the task has no field status_code")
	case status != 20000:
		e := r.account.Unavailable("status %d: %s", status, task.Text("status_message"))
		e.Class = dataForSEOClass(status)
		return platform.Reply{}, e
	}
	results := task.List("result")
	if len(results) == 0 || results[0] == nil {
		return platform.Reply{}, wire.ChangedShape("the task has no result")
	}
	cost, _ := event.Decimal(cmp.Or(task.Decimal("cost"), body.Decimal("cost")))
	a := answer{request: r}
	if strings.HasPrefix(r.source, "serp/") {
		return a.dataForSEOPage(results[0], cost)
	}
	return a.dataForSEOChat(results[0], cost)
}

// dataForSEOChat reads the answer of a chat. Ads among its items are nothing.
func (a *answer) dataForSEOChat(result wire.Object, cost string) (platform.Reply, error) {
	if err := pages(result, "sources", "url", "title", a.cite); err != nil {
		return platform.Reply{}, err
	}
	if err := pages(result, "search_results", "url", "title", a.consult); err != nil {
		return platform.Reply{}, err
	}
	for _, query := range texts(result, "fan_out_queries") {
		a.search(query)
	}
	for _, item := range result.List("items") {
		if item.Kind() == "chat_gpt_products" {
			a.sell(item.List("items"))
		}
	}
	return a.reply(result.Text("markdown"), result.Text("model"), cost)
}

// dataForSEOPage reads the overview among the items of a page, or the answer of AI Mode, which has the same form.
func (a *answer) dataForSEOPage(result wire.Object, cost string) (platform.Reply, error) {
	if _, ok := result["items"].([]any); !ok {
		return platform.Reply{}, wire.ChangedShape("the result has no list of items")
	}
	kinds := wire.Object{}
	for i, item := range result.List("items") {
		switch item.Kind() {
		case "ai_overview":
			return a.dataForSEOOverview(item, cost)
		case "":
			return platform.Reply{}, wire.ChangedShape("items[%d] has no field type", i)
		}
		kinds[item.Kind()] = true
	}
	if a.request.isOverview() {
		return notShown(kinds, cost)
	}
	return platform.Reply{}, wire.ChangedShape("the page has no item ai_overview")
}

// dataForSEOOverview reads the elements of an overview. The pages that they name are cited, the others of the overview
// are consulted; where they name none those are cited.
func (a *answer) dataForSEOOverview(overview wire.Object, cost string) (platform.Reply, error) {
	var paragraphs []string
	add := a.cite
	for i, element := range overview.List("items") {
		switch element.Kind() {
		case "ai_overview_element":
			text, ok := element["text"].(string)
			if !ok {
				return platform.Reply{}, wire.ChangedShape("items[%d] has no field text", i)
			}
			if text = strings.TrimSpace(text); text != "" {
				paragraphs = append(paragraphs, text)
			}
			for _, list := range []string{"references", "links"} {
				if err := pages(element, list, "url", "title", a.cite); err != nil {
					return platform.Reply{}, err
				}
				if len(element.List(list)) > 0 {
					add = a.consult
				}
			}
		case "ai_overview_shopping":
			a.sell(element.List("items"))
		}
	}
	if overview["asynchronous_ai_overview"] == true && overview["items"] == nil && overview["markdown"] == nil {
		return platform.Reply{}, a.request.account.Unavailable("the overview was begun and not finished")
	}
	if err := pages(overview, "references", "url", "title|source", add); err != nil {
		return platform.Reply{}, err
	}
	return a.reply(strings.Join(paragraphs, "\n\n"), "", cost)
}
