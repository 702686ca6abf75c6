package capture

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
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
	submit: submitOxylabs, fetch: fetchOxylabs, read: readOxylabs,
}

func submitOxylabs(ctx context.Context, r request) (submission, error) {
	body := wire.Object{"source": r.source, "parse": true}
	if strings.HasPrefix(r.source, "google_") {
		body["query"], body["render"] = r.Text, "html"
	} else {
		body["prompt"] = r.Text
	}
	region, err := r.place()
	switch {
	case err != nil:
		return submission{}, err
	case r.Region != "" && strings.HasPrefix(r.source, "google_"):
		body["geo_location"] = region.String()
	case r.Region != "":
		body["geo_location"] = cmp.Or(oxylabsCountries[region.String()], display.English.Regions().Name(region))
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

func fetchOxylabs(ctx context.Context, a account, jobID string) ([]byte, state, error) {
	path := "/v1/queries/" + url.PathEscape(jobID)
	job, _, err := a.getJob(ctx, path)
	if err != nil {
		return nil, running, err
	}
	switch job.Text("status") {
	case "pending": // before its beginning and after
		return nil, queued, nil
	case "faulted":
		return nil, failed, a.Unavailable("the job is faulted")
	case "done":
		payload, err := a.Get(ctx, path+"/results")
		if err == nil && len(payload) > 0 {
			return payload, ready, nil
		}
		return nil, running, err
	}
	return nil, running, nil
}

// parsedByOxylabs is the status of a page whose parts were found.
const parsedByOxylabs = 12000

func readOxylabs(r request, payload []byte) (platform.Reply, error) {
	body, err := wire.Decode(payload)
	if err != nil {
		return platform.Reply{}, err
	}
	if body["results"] == nil && body.Text("message") != "" {
		return platform.Reply{}, r.account.Failed(payload)
	}
	results := body.List("results")
	if len(results) == 0 {
		return platform.Reply{}, wire.ChangedShape("the answer has no results")
	}
	status, ok := results[0].Number("status_code")
	content := results[0].Object("content")
	switch {
	case ok && status != 200:
		return platform.Reply{}, r.account.Unavailable("the page was not captured: status %d", status)
	case content == nil:
		return platform.Reply{}, wire.ChangedShape("results[0].content is no object")
	}
	a := answer{request: r}
	if r.isOverview() {
		parsed, _ := content.Number("parse_status_code")
		return a.oxylabsOverview(content, ok && parsed == parsedByOxylabs)
	}
	text := strings.TrimSpace(firstText(content, "markdown_text", "answer_results_md", "response_text"))
	if err := a.oxylabsPages(content, text); err != nil {
		return platform.Reply{}, err
	}
	for _, query := range texts(content, "search_queries") {
		a.search(query)
	}
	return a.reply(text, firstText(content, "llm_model", "model"), "")
}

// oxylabsPages reads the pages of each source. Perplexity's text cites its results by their number.
func (a *answer) oxylabsPages(content wire.Object, text string) error {
	switch a.request.source {
	case "perplexity":
		number, numbers := 0, markers(text)
		return pages(content, "additional_results.sources_results", "url", "title", func(address, title string) {
			number++
			if numbers[number] {
				a.cite(address, title)
			} else {
				a.consult(address, title)
			}
		})
	case "google_ai_mode": // the text of a citation is its sentence
		citations, ok := content.Value("citations").([]any)
		if !ok && content.Value("citations") != nil {
			return wire.ChangedShape("citations is no list")
		}
		for i, citation := range content.List("citations") {
			list := texts(citation, "urls")
			if address := citation.Text("url"); address != "" {
				list = append(list, address)
			}
			if len(list) == 0 && citations[i] != nil {
				return wire.ChangedShape("citations[%d] has no field url or urls", i)
			}
			for _, address := range list {
				a.cite(address, "")
			}
		}
	default:
		if err := pages(content, "citations", "url", "title|text", a.cite); err != nil {
			return err
		}
	}
	return pages(content, "links", "url", "title|text", a.consult)
}

var marker = regexp.MustCompile(`\[(\d{1,4})\]`)

// markers returns the numbers that stand in a text as [1].
func markers(text string) map[int]bool {
	numbers := map[int]bool{}
	for _, match := range marker.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.Atoi(match[1])
		numbers[number] = true
	}
	return numbers
}

// oxylabsOverview reads the overview of a page of results, whose fragments name the pages that they rest on. It is
// absent where the page is whole and has none.
func (a *answer) oxylabsOverview(content wire.Object, isWhole bool) (platform.Reply, error) {
	results := content.Object("results")
	if results == nil || results["ai_overviews"] == nil {
		if results == nil || !isWhole {
			return platform.Reply{}, wire.ChangedShape("the page of results was not parsed")
		}
		return notShown(results, "")
	}
	var paragraphs []string
	for _, overview := range results.List("ai_overviews") {
		for _, paragraph := range overview.List("answer_text") {
			var fragments []string
			for i, fragment := range paragraph.List("fragments") {
				text, ok := fragment["text"].(string)
				if !ok {
					return platform.Reply{}, wire.ChangedShape("fragments[%d] has no field text", i)
				}
				fragments = append(fragments, text)
				if err := pages(fragment, "references", "url", "title|source", a.cite); err != nil {
					return platform.Reply{}, err
				}
			}
			paragraphs = append(paragraphs, strings.TrimSpace(strings.Join(fragments, "")))
		}
		if err := pages(overview, "source_panel.items", "url|link", "title|source", a.consult); err != nil {
			return platform.Reply{}, err
		}
	}
	return a.reply(strings.Join(paragraphs, "\n\n"), "", "")
}
