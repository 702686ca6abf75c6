package capture

import (
	"cmp"
	"context"
	"strings"

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
	ignored: []string{"chat_gpt_text", "chat_gpt_table", "chat_gpt_ad", "ai_overview_paid", "brand_entities", "images"},
}

// escapedKeyword writes the two characters that DataForSEO decodes.
var escapedKeyword = strings.NewReplacer("%", "%25", "+", "%2B")

func submitDataForSEO(ctx context.Context, r request) (submission, error) {
	task := wire.Object{
		"keyword": escapedKeyword.Replace(r.Text), "location_code": countryCode + r.country.M49(),
	}
	if name := chineseNames[r.googleLanguage()]; name != "" {
		task["language_name"] = name // since its lists differ in the code
	} else {
		base, _ := r.languageTag().Base()
		task["language_code"] = base.String()
	}
	switch r.offer.source {
	case "ai_optimization/chat_gpt/llm_scraper":
		task["force_web_search"] = true
	case "serp/google/organic":
		task["load_async_ai_overview"] = true
	}
	payload, err := r.account.Post(ctx, "/v3/"+r.offer.source+"/live/advanced", []wire.Object{task})
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

func readDataForSEO(a *answer) error {
	task := a.page
	if tasks := task.List("tasks"); len(tasks) > 0 {
		task = tasks[0]
	}
	a.charge(cmp.Or(task.Decimal("cost"), a.page.Decimal("cost")))
	results := task.List("result")
	switch status, ok := task.Number("status_code"); {
	case !ok:
		return wire.ChangedShape("the task has no field status_code")
	case status == 40102 && a.request.isOverview(): // the search has no results
		return a.notShown(task)
	case status != 20000:
		e := a.request.account.Unavailable("status %d: %s", status, task.Text("status_message"))
		e.Class = dataForSEOClass(status)
		return e
	case len(results) == 0 || results[0] == nil:
		return wire.ChangedShape("the task has no result")
	}
	if strings.HasPrefix(a.request.offer.source, "serp/") {
		return a.readDataForSEOPage(results[0])
	}
	a.readDataForSEOChat(results[0])
	return nil
}

// readDataForSEOChat reads the answer of a chat. Ads among its items are nothing.
func (a *answer) readDataForSEOChat(result wire.Object) {
	a.content = result
	a.text, a.model = result.Text("markdown"), result.Text("model")
	a.pages(result, "sources", "url", "title", a.cite)
	a.pages(result, "search_results", "url", "title", a.consult)
	a.search(result["fan_out_queries"])
	for _, item := range result.List("items") {
		if item.Kind() == "chat_gpt_products" {
			a.sell(item, "items")
		}
	}
}

// readDataForSEOPage reads the overview among the items of a page, or the answer of AI Mode, which has the same form.
func (a *answer) readDataForSEOPage(result wire.Object) error {
	if _, ok := result["items"].([]any); !ok {
		return wire.ChangedShape("the result has no list of items")
	}
	kinds := wire.Object{}
	for i, item := range result.List("items") {
		switch item.Kind() {
		case "ai_overview":
			return a.readDataForSEOOverview(item)
		case "":
			return wire.ChangedShape("items[%d] has no field type", i)
		}
		kinds[item.Kind()] = true
	}
	if a.request.isOverview() {
		return a.notShown(kinds)
	}
	return wire.ChangedShape("the page has no item ai_overview")
}

// readDataForSEOOverview reads the elements of an overview. The pages that they name are cited, the others of the
// overview are consulted; where they name none those are cited.
func (a *answer) readDataForSEOOverview(overview wire.Object) error {
	if overview["asynchronous_ai_overview"] == true && overview["items"] == nil && overview["markdown"] == nil {
		return a.unavailable("the overview was begun and not finished")
	}
	a.content = overview
	var paragraphs []string
	others := a.cite
	for i, element := range overview.List("items") {
		switch element.Kind() {
		case "ai_overview_element":
			if _, ok := element["text"].(string); !ok {
				a.changed("items[%d] has no field text", i)
			}
			if text := text(element, "text"); text != "" {
				paragraphs = append(paragraphs, text)
			}
			for _, list := range []string{"references", "links"} {
				a.pages(element, list, "url", "title", a.cite)
				if len(element.List(list)) > 0 {
					others = a.consult
				}
			}
		case "ai_overview_shopping":
			a.sell(element, "items")
		case "ai_overview_paid":
		default:
			a.PassOver(element.Kind())
		}
	}
	a.pages(overview, "references", "url", "title|source", others)
	a.text = strings.Join(paragraphs, "\n\n")
	return nil
}
