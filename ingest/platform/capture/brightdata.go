package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
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
	submit: submitBrightData, fetch: fetchBrightData, read: readBrightData, cancel: cancelBrightData,
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
		return submission{payload: payload}, withPause(err)
	}
	input := wire.Object{"url": brightDataProducts[r.surface], "prompt": r.Text, "index": 1, "country": r.country()}
	if r.surface == "chatgpt-web" {
		input["web_search"] = true
	}
	parameters := url.Values{"dataset_id": {r.source}, "format": {"json"}, "include_errors": {"true"}}
	if r.notify != "" {
		parameters.Set("notify", r.notify)
	}
	address := "/datasets/v3/trigger?" + parameters.Encode()
	job, err := r.postJob(ctx, address, []wire.Object{input}, "snapshot_id")
	return job, withPause(err)
}

// brightDataPause is the shortest pause after a refusal for the rate: 25 of them in 5 minutes block an address.
const brightDataPause = time.Minute

// withPause adds it to such a refusal. Refused polls count, too.
func withPause(err error) error {
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Class == platform.RateLimited {
		e.RetryAfter = max(e.RetryAfter, brightDataPause)
	}
	return err
}

// brightDataSearch requests a page of results with its overview, as JSON.
func brightDataSearch(r request) wire.Object {
	parameters := url.Values{"q": {r.Text}, "brd_json": {"1"}, "brd_ai_overview": {"2"}, "hl": {r.googleLanguage()}}
	if r.Region != "" {
		parameters.Set("gl", strings.ToLower(r.Region))
	}
	return wire.Object{
		"zone": r.account.zone, "url": "https://www.google.com/search?" + parameters.Encode(),
		"method": "GET", "format": "raw",
	}
}

func fetchBrightData(ctx context.Context, a account, jobID string) ([]byte, state, error) {
	job, _, err := a.getJob(ctx, "/datasets/v3/progress/"+url.PathEscape(jobID))
	if err != nil {
		return nil, running, withPause(err)
	}
	switch status := job.Text("status"); status {
	case "ready":
		return fetchBrightDataSnapshot(ctx, a, jobID)
	case "failed", "cancelled", "error":
		return nil, failed, a.Unavailable("the job is %s", status)
	case "starting":
		return nil, queued, nil
	}
	return nil, running, nil
}

// fetchBrightDataSnapshot returns the records of a job that is ready. They may come later than that state: before
// them there is a notice with a status, or no JSON.
func fetchBrightDataSnapshot(ctx context.Context, a account, jobID string) ([]byte, state, error) {
	payload, err := a.Get(ctx, "/datasets/v3/snapshot/"+url.PathEscape(jobID)+"?format=json")
	if err != nil || len(payload) == 0 || !json.Valid(payload) {
		return nil, running, withPause(err)
	}
	notice, err := wire.Decode(payload)
	isNotice := err == nil && notice["status"] != nil && firstText(notice, brightDataTexts...) == ""
	if isNotice && notice["error"] == nil && notice["error_code"] == nil {
		return nil, running, nil
	}
	return payload, ready, nil
}

func cancelBrightData(ctx context.Context, a account, jobID string) error {
	_, err := a.Post(ctx, "/datasets/v3/snapshot/"+url.PathEscape(jobID)+"/cancel", wire.Object{})
	return withPause(err)
}

// brightDataTexts are the fields with the text of an answer.
var brightDataTexts = []string{"answer_text_markdown", "answer_text"}

func readBrightData(r request, payload []byte) (platform.Reply, error) {
	first, err := firstRecord(payload)
	if err != nil {
		return platform.Reply{}, err
	}
	record, err := wire.Decode(first)
	if err != nil {
		return platform.Reply{}, err
	}
	if record["error"] != nil || record["error_code"] != nil {
		reason := firstText(record, "error", "error_code")
		return platform.Reply{}, r.account.Unavailable("the record is an error: %s", reason)
	}
	a := answer{request: r}
	if r.isOverview() {
		return a.brightDataOverview(record)
	}
	if err := a.brightDataPages(record); err != nil {
		return platform.Reply{}, err
	}
	for _, path := range []string{"web_search_query", "metadata.search_model_queries.queries"} {
		for _, query := range texts(record, path) {
			a.search(query)
		}
	}
	for _, path := range []string{"shopping", "shopping_data"} {
		if err := a.cloroCards(record, path); err != nil {
			return platform.Reply{}, err
		}
	}
	reply, err := a.reply(firstText(record, brightDataTexts...), record.Text("model"), "")
	if err == nil && len(reply.Citations) == 0 && len(reply.Text) < maxWall && signInPage.MatchString(reply.Text) {
		return platform.Reply{}, r.account.Unavailable("the answer is a page to sign in")
	}
	return reply, err
}

// maxWall is the length of a page to sign in, which has no source.
const maxWall = 600

var signInPage = regexp.MustCompile(`(?i)\b(?:sign in|sign up|continue with google|verify you are human)\b`)

// firstRecord returns the first item of a list.
func firstRecord(payload []byte) ([]byte, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(payload), []byte("[")) {
		return payload, nil
	}
	var records []json.RawMessage
	if err := json.Unmarshal(payload, &records); err != nil || len(records) == 0 {
		return nil, wire.ChangedShape("the answer is no list of records")
	}
	return records[0], nil
}

// brightDataPages reads the pages that are cited, among which some are marked as not cited, and the others.
func (a *answer) brightDataPages(record wire.Object) error {
	var uncited []wire.Object
	for _, page := range record.List("citations") {
		if page["cited"] == false {
			uncited = append(uncited, page)
		}
	}
	err := pages(record, "citations", "url", "title", func(address, title string) {
		for _, page := range uncited {
			if page.Text("url") == address {
				a.consult(address, title)
				return
			}
		}
		a.cite(address, title)
	})
	for _, path := range []string{"sources", "search_sources", "links_attached"} {
		if err == nil {
			err = pages(record, path, "url", "title|text", a.consult)
		}
	}
	return err
}

// brightDataOverview reads the overview of a page of results. It is absent where the page has results and none.
func (a *answer) brightDataOverview(page wire.Object) (platform.Reply, error) {
	overview := page.Object("ai_overview")
	if page["ai_overview"] == nil {
		if page["general"] == nil || page["organic"] == nil {
			return platform.Reply{}, wire.ChangedShape("the answer is no page of results")
		}
		return notShown(page, "")
	}
	text, err := overviewTexts(overview.List("texts"), "")
	if err != nil {
		return platform.Reply{}, err
	}
	err = pages(overview, "references", "href|link|url", "title|source", func(address, title string) {
		title, _, _ = strings.Cut(title, ". Opens in new tab")
		a.cite(address, title)
	})
	if err != nil {
		return platform.Reply{}, err
	}
	return a.reply(text, "", "")
}

// overviewTexts returns the text of snippets, with a bullet before each item of a list.
func overviewTexts(items []wire.Object, bullet string) (string, error) {
	var texts []string
	for i, item := range items {
		below, err := overviewTexts(item.List("list"), "- ")
		if err != nil {
			return "", err
		}
		snippet := firstText(item, "snippet", "title")
		if snippet == "" && below == "" {
			return "", wire.ChangedShape("texts[%d] has no field snippet", i)
		}
		if snippet != "" {
			texts = append(texts, bullet+strings.TrimSpace(snippet))
		}
		if below != "" {
			texts = append(texts, below)
		}
	}
	if bullet != "" {
		return strings.Join(texts, "\n"), nil
	}
	return strings.Join(texts, "\n\n"), nil
}
