package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language/display"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// oxylabs captures by jobs. The limits suit a small plan.
var oxylabs = provider{
	Description: platform.Description{
		Slug: "oxylabs", Name: "Oxylabs", NeedsKey: true, TakesRegion: true,
		Limits: platform.Limits{RequestsPerMinute: 300, InFlight: 50},
	},
	baseURL: "https://data.oxylabs.io", authorize: wire.Basic, hasUser: true,
	submit: submitOxylabs, read: readOxylabs,
	ignored: []string{"top_sources", "images_results", "videos_results", "answer_results", "markdown_json"},
	jobs: jobs{ // which are pending before their beginning and after
		job: "/v1/queries/", status: "status", result: "/v1/queries/%s/results",
		states: map[string]state{"pending": queued, "done": ready, "faulted": failed},
	},
}

func submitOxylabs(ctx context.Context, r request) (submission, error) {
	country := r.country.String()
	body := wire.Object{"source": r.offer.source, "parse": true}
	if strings.HasPrefix(r.offer.source, "google_") {
		body["query"], body["render"] = r.Text, "html"
	} else {
		body["prompt"] = r.Text
		country = cmp.Or(oxylabsCountries[country], display.English.Regions().Name(r.country))
	}
	if r.Region != "" {
		body["geo_location"] = country
	}
	if r.notify != "" {
		body["callback_url"] = r.notify
	}
	job, err := r.postJob(ctx, "/v1/queries", body, "id")
	e, ok := errors.AsType[*platform.Error](err)
	if ok && e.Class == platform.Invalid && strings.Contains(e.Error(), "geo_location") {
		e.Class = platform.Unavailable // another provider may know the country
	}
	return job, err
}

// oxylabsCountries are the countries that Oxylabs lists for chats by another English name: the name of ISO 3166
// without punctuation. The names up to I were read in its list, the others are inferred.
var oxylabsCountries = map[string]string{
	"AG": "Antigua and Barbuda", "BA": "Bosnia and Herzegovina", "BN": "Brunei Darussalam",
	"BO": "Bolivia Plurinational State of", "CD": "Congo the Democratic Republic of the", "CG": "Congo",
	"CI": "Côte dIvoire", "CV": "Cabo Verde", "HK": "Hong Kong", "IR": "Iran Islamic Republic of", "SZ": "Eswatini",
	"KR": "Korea Republic of", "MM": "Myanmar", "MO": "Macao", "RU": "Russian Federation",
	"TT": "Trinidad and Tobago", "TW": "Taiwan Province of China", "VN": "Viet Nam",
}

// parsedByOxylabs is the status of a page whose parts were found.
const parsedByOxylabs = 12000

func readOxylabs(a *answer) error {
	results := a.page.List("results")
	switch {
	case a.page["results"] == nil && a.page.Text("message") != "":
		return a.request.account.Failed(a.payload)
	case len(results) == 0:
		return wire.ChangedShape("the answer has no results")
	}
	status, hasStatus := results[0].Number("status_code")
	content := results[0].Object("content")
	switch {
	case hasStatus && status != 200:
		if status >= 500 { // such results are not billed, those of the 400s are
			a.paidPages = 0
		}
		return a.unavailable("the page was not captured: status %d", status)
	case content == nil:
		return wire.ChangedShape("results[0].content is no object")
	case a.request.isOverview():
		parsed, _ := content.Number("parse_status_code")
		return a.readOxylabsOverview(content, hasStatus && parsed == parsedByOxylabs)
	}
	a.content = content
	a.text = text(content, "markdown_text", "answer_results_md", "response_text")
	a.model = text(content, "llm_model", "model")
	a.search(content["search_queries"])
	switch a.request.offer.source {
	case "perplexity":
		a.require(content.Object("additional_results"), "sources_results")
		a.pages(content, "additional_results.sources_results", "url", "title", a.citeMarked())
	case "google_ai_mode": // the text of a citation is its sentence
		a.require(content, "citations")
		a.pages(content, "citations", "urls|url", "", a.cite)
	default:
		a.pages(content, "citations", "url", "title|text", a.cite)
	}
	a.pages(content, "links", "url", "title|text", a.consult)
	return nil
}

var marker = regexp.MustCompile(`\[(\d{1,4})\]`)

// citeMarked cites the pages whose numbers stand in the text as [1], and consults the others.
func (a *answer) citeMarked() func(address, title string) {
	number, marked := 0, marker.FindAllString(a.text, -1)
	return func(address, title string) {
		number++
		if slices.Contains(marked, fmt.Sprintf("[%d]", number)) {
			a.cite(address, title)
		} else {
			a.consult(address, title)
		}
	}
}

// readOxylabsOverview reads the overview of a page of results, whose fragments name the pages that they rest on. It is
// absent where the page is whole and has none.
func (a *answer) readOxylabsOverview(content wire.Object, isWhole bool) error {
	results := content.Object("results")
	if list, isList := results["ai_overviews"].([]any); isList && len(list) == 0 {
		delete(results, "ai_overviews") // it means the same
	}
	switch {
	case results["ai_overviews"] != nil:
	case results == nil || !isWhole:
		return wire.ChangedShape("the page of results was not parsed")
	default:
		return a.notShown(results)
	}
	a.content = wire.Object{"ai_overviews": results["ai_overviews"]}
	var paragraphs []string
	for _, overview := range results.List("ai_overviews") {
		for _, paragraph := range overview.List("answer_text") {
			var fragments []string
			for i, fragment := range paragraph.List("fragments") {
				if _, ok := fragment["text"].(string); !ok {
					a.changed("fragments[%d] has no field text", i)
				}
				fragments = append(fragments, fragment.Text("text"))
				a.pages(fragment, "references", "url", "title|source", a.cite)
			}
			paragraphs = append(paragraphs, strings.TrimSpace(strings.Join(fragments, "")))
		}
		a.pages(overview, "source_panel.items", "url|link", "title|source", a.consult)
	}
	a.text = strings.Join(paragraphs, "\n\n")
	return nil
}
