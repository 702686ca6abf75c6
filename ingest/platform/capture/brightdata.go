package capture

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// brightData captures chats by jobs, and pages of results at once.
var brightData = provider{
	Description: platform.Description{
		Slug: "brightdata", Name: "Bright Data", NeedsKey: true, TakesRegion: true,
		Limits: platform.Limits{RequestsPerMinute: 300, InFlight: 100},
	},
	baseURL: "https://api.brightdata.com", authorize: wire.Bearer,
	minPause: time.Minute, // 25 refusals for the rate in 5 minutes block an address; those of polls count, too
	submit:   submitBrightData, read: readBrightData,
	ignored: []string{"images"},
	jobs: jobs{
		job: "/datasets/v3/progress/", status: "status", result: "/datasets/v3/snapshot/%s?format=json",
		states: map[string]state{
			"starting": queued, "ready": ready, "failed": failed, "cancelled": failed, "error": failed,
		},
		isNotice: isBrightDataNotice, cancel: "/datasets/v3/snapshot/%s/cancel",
	},
}

// brightDataProducts are the addresses of the products that the data sets are captured from.
var brightDataProducts = map[string]string{
	"chatgpt-web":    "https://chatgpt.com/",
	"perplexity-web": "https://www.perplexity.ai/",
	"gemini-web":     "https://gemini.google.com/",
	"copilot-web":    "https://copilot.microsoft.com/chats",
	"google-ai-mode": "https://google.com/aimode",
}

func submitBrightData(ctx context.Context, r request) (submission, error) {
	if r.isOverview() {
		payload, err := r.account.Post(ctx, "/request", brightDataSearch(r))
		return submission{payload: payload}, err
	}
	input := wire.Object{"url": brightDataProducts[r.surface], "prompt": r.Text, "index": 1, "country": ""}
	if r.Region != "" {
		input["country"] = r.country.String()
	}
	if r.surface == "chatgpt-web" {
		input["web_search"] = true
	}
	parameters := url.Values{"dataset_id": {r.offer.source}, "format": {"json"}, "include_errors": {"true"}}
	if r.notify != "" {
		parameters.Set("notify", r.notify)
	}
	return r.postJob(ctx, "/datasets/v3/trigger?"+parameters.Encode(), []wire.Object{input}, "snapshot_id")
}

// brightDataSearch requests a page of results with its overview, as JSON.
func brightDataSearch(r request) wire.Object {
	parameters := url.Values{"q": {r.Text}, "brd_json": {"1"}, "brd_ai_overview": {"2"}, "hl": {r.googleLanguage()}}
	if r.Region != "" {
		parameters.Set("gl", strings.ToLower(r.Region))
	}
	return wire.Object{
		"zone": r.account.settings.Zone, "url": "https://www.google.com/search?" + parameters.Encode(),
		"method": "GET", "format": "raw",
	}
}

// isBrightDataNotice reports whether the payload of a job that is ready has no records yet: they may come later than
// that state, and before them there is a notice with a status, or no JSON.
func isBrightDataNotice(payload []byte) bool {
	notice, err := wire.Decode(payload)
	isNotice := err == nil && notice["status"] != nil && text(notice, brightDataTexts...) == ""
	return !json.Valid(payload) || isNotice && notice["error"] == nil && notice["error_code"] == nil
}

// brightDataTexts are the fields with the text of an answer.
var brightDataTexts = []string{"answer_text_markdown", "answer_text"}

func readBrightData(a *answer) error {
	record := a.page
	switch {
	case record["error"] != nil || record["error_code"] != nil:
		return a.unavailable("the record is an error: %s", reason(record))
	case a.request.isOverview():
		return a.readBrightDataOverview(record)
	}
	a.content = record
	a.text, a.model = text(record, brightDataTexts...), record.Text("model")
	citations := record.List("citations")
	a.pages(record, "citations", "url", "title", func(address, title string) {
		isUncited := func(page wire.Object) bool { return page["cited"] == false && page.Text("url") == address }
		if slices.ContainsFunc(citations, isUncited) {
			a.consult(address, title)
		} else {
			a.cite(address, title)
		}
	})
	for _, list := range []string{"sources", "search_sources", "links_attached"} {
		a.pages(record, list, "url", "title|text", a.consult)
	}
	a.search(record["web_search_query"])
	a.search(record.Value("metadata.search_model_queries.queries"))
	a.sell(record, "shopping")
	a.sell(record, "shopping_data")
	return nil
}

// readBrightDataOverview reads the overview of a page of results. It is absent where the page has results and none.
func (a *answer) readBrightDataOverview(page wire.Object) error {
	switch {
	case page["ai_overview"] != nil:
	case page["general"] == nil || page["organic"] == nil:
		return wire.ChangedShape("the answer is no page of results")
	default:
		return a.notShown(page)
	}
	overview := page.Object("ai_overview")
	a.content = overview
	a.text = a.blocks(overview.List("texts"))
	a.pages(overview, "references", "href|link|url", "title|source", func(address, title string) {
		title, _, _ = strings.Cut(title, ". Opens in new tab")
		a.cite(address, title)
	})
	return nil
}
