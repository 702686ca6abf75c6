package capture

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// serpAPI answers at once. The limits suit the smallest plan, of 1,000 searches an hour.
var serpAPI = provider{
	Description: platform.Description{
		Slug: "serpapi", Name: "SerpApi", NeedsKey: true, TakesRegion: true,
		Limits: platform.Limits{RequestsPerMinute: 16, InFlight: 10},
	},
	baseURL: "https://serpapi.com", authorize: wire.InQuery("api_key"),
	submit: submitSerpAPI, read: readSerpAPI,
	ignored: []string{"local_results", "related", "inline_images", "inline_videos"},
}

const (
	serpOverview       = "google_ai_overview" // the engine of a second page: an overview that the first deferred
	serpAccountTimeout = 5 * time.Second
	maxPerMinute       = 1_000_000
)

// submitSerpAPI asks for a page that is not older than the question, and for the overview that it may defer.
func submitSerpAPI(ctx context.Context, r request) (submission, error) {
	parameters := url.Values{"engine": {r.offer.source}, "q": {r.Text}, "no_cache": {"true"}}
	if strings.HasPrefix(r.offer.source, "google") {
		parameters.Set("hl", r.googleLanguage())
		if r.Region != "" {
			parameters.Set("gl", strings.ToLower(r.Region))
		}
	}
	perMinute, err := readSerpAccount(ctx, r.account)
	if err != nil {
		return submission{}, err
	}
	payload, err := r.account.Get(ctx, "/search.json?"+parameters.Encode())
	token := deferredOverview(r, payload)
	if err != nil || token == "" {
		return submission{payload: payload, perMinute: perMinute}, serpRefusal(err)
	}
	parameters = url.Values{"engine": {serpOverview}, "page_token": {token}, "no_cache": {"true"}}
	payload, err = r.account.Get(ctx, "/search.json?"+parameters.Encode())
	return submission{payload: payload, pages: 2, perMinute: perMinute}, serpRefusal(err)
}

// serpReadings holds when the state of an account was read, by Account.
var serpReadings sync.Map

// readSerpAccount returns how many searches an account may send in a minute; 0: unknown. It asks once an hour, and
// refuses an account that has no searches left.
func readSerpAccount(ctx context.Context, a account) (perMinute int, err error) {
	last, _ := serpReadings.Load(a.settings)
	if at, ok := last.(time.Time); ok && time.Since(at) < time.Hour {
		return 0, nil
	}
	serpReadings.Store(a.settings, time.Now())
	limited, done := context.WithTimeout(ctx, serpAccountTimeout)
	defer done()
	payload, _ := a.Get(limited, "/account.json")
	state, _ := wire.Decode(payload) // the search reports an error of the account
	if left, ok := state.Number("total_searches_left"); ok && left <= 0 {
		return 0, &platform.Error{Class: platform.Quota, Cause: errors.New("the account has no searches left")}
	}
	perHour, _ := state.Number("account_rate_limit_per_hour")
	if perHour <= 0 {
		return 0, nil
	}
	return int(min(max(perHour/60, 1), maxPerMinute)), nil
}

// deferredOverview returns the token of an overview that the page does not have yet.
func deferredOverview(r request, payload []byte) string {
	page, err := wire.Decode(payload)
	if err != nil || !r.isOverview() || page.Value("ai_overview.text_blocks") != nil {
		return "" // the reader reports an error
	}
	return page.Text("ai_overview.page_token")
}

// serpRefusal tells a spent account from a busy one, which have the same status, and a search that is gone from one
// that is refused.
func serpRefusal(err error) error {
	e, ok := errors.AsType[*platform.Error](err)
	switch {
	case ok && e.Class == platform.RateLimited && strings.Contains(e.Error(), "run out of searches"):
		e.Class = platform.Quota
	case ok && e.Class == platform.Invalid && strings.HasPrefix(e.Cause.Error(), "status 410"):
		e.Class = platform.Unavailable
	}
	return err
}

func readSerpAPI(a *answer) error {
	failure, status := a.page.Text("error"), a.page.Text("search_metadata.status")
	isOverview := a.request.isOverview()
	isFirst := a.page.Text("search_parameters.engine") == a.request.offer.source
	isEmpty := strings.Contains(failure, "hasn't returned any results") && isOverview && isFirst
	switch {
	case status == "" && a.page["error"] == nil:
		return wire.ChangedShape("the answer has no field search_metadata.status")
	case status == "Success" && isEmpty:
		return a.notShown(a.page)
	case status == "Error", status == "":
		a.paidPages-- // a search that failed is not counted
		return a.request.account.Failed(a.payload)
	case status != "Success", a.page["error"] != nil:
		return a.request.account.Failed(a.payload)
	case isOverview && isFirst && a.page["ai_overview"] == nil:
		return a.notShown(a.page)
	case !isOverview:
		return a.readSerpContent(a.page)
	}
	content := a.page.Object("ai_overview")
	isDeferred := content["text_blocks"] == nil && content.Text("page_token") != ""
	if content["error"] != nil || isDeferred {
		return a.unavailable("the overview was begun and not finished: %s", reason(content))
	}
	return a.readSerpContent(content)
}

// serpShape lists the kinds of blocks that have text.
var serpShape = wire.Shape{
	"":          {"text_blocks items", "references?[].link text", "references?[].index number"},
	"paragraph": nil, "heading": nil, "list": nil, "table": nil, "expandable": nil, "comparison": nil,
	"code": nil, "code_block": nil,
}

// readSerpContent reads an answer in blocks, which name the references that they rest on by their indexes.
func (a *answer) readSerpContent(content wire.Object) error {
	if err := a.Check(content, serpShape); err != nil {
		return err
	}
	a.content = content
	a.text = strings.TrimSpace(content.Text("header") + "\n\n" + a.blocks(content.List("text_blocks")))
	switch count := len(a.list(content, "references")); {
	case count == 0 && len(a.indexes) > 0:
		return wire.ChangedShape("blocks rest on references, and there are none")
	case count > 0 && len(a.indexes) == 0:
		a.PassOver("references that no block names")
	}
	for _, reference := range content.List("references") {
		add := a.consult
		if index, _ := reference.Number("index"); slices.Contains(a.indexes, index) {
			add = a.cite
		}
		add(reference.Text("link"), reference.Text("title"))
	}
	a.sell(content, "shopping_results")
	a.sell(content, "products")
	return nil
}

// blocks returns the text of blocks, with a blank line between two.
func (a *answer) blocks(blocks []wire.Object) string {
	var texts []string
	for i, block := range blocks {
		text := a.block(block)
		if _, hasText := serpShape[block.Kind()]; text == "" && hasText {
			a.changed("text_blocks[%d], of type %s, has no text", i, block.Kind())
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// block returns the text of one block, in the fields that its kind has.
func (a *answer) block(block wire.Object) string {
	lines := append([]string{a.line(block)}, a.bullets(block.List("list"), "- ")...)
	lines = append(lines, block.Text("code"), strings.Join(block.Texts("product_labels"), " | "))
	rows, _ := block["table"].([]any)
	for _, row := range rows {
		cells := texts(row, "")
		if len(cells) == 0 {
			a.changed("a row of a table has no texts")
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	for _, row := range block.List("comparison") {
		lines = append(lines, strings.Join(append([]string{row.Text("feature")}, row.Texts("values")...), " | "))
	}
	lines = append(lines, a.blocks(block.List("text_blocks")))
	isBlank := func(line string) bool { return strings.TrimSpace(line) == "" }
	return strings.Join(slices.DeleteFunc(lines, isBlank), "\n")
}

// maxIndent limits the indent of lists within lists, whose text would else be the square of the payload.
const maxIndent = 20

// bullets returns the lines of a list, whose items may have lists of their own.
func (a *answer) bullets(items []wire.Object, bullet string) (lines []string) {
	for i, item := range items {
		line, below := a.line(item), a.bullets(item.List("list"), "  "+bullet[max(0, len(bullet)-maxIndent):])
		if line == "" && len(below) == 0 {
			a.changed("item %d of a list has no text", i)
		}
		lines = append(append(lines, bullet+line), below...)
	}
	return lines
}

// line returns the title and the text of a block or an item, and cites the pages that it rests on.
func (a *answer) line(block wire.Object) string {
	a.indexes = append(a.indexes, block.Numbers("reference_indexes")...)
	a.pages(block, "snippet_links", "link", "", a.cite)
	title, snippet := strings.TrimSpace(block.Text("title")), strings.TrimSpace(block.Text("snippet"))
	if title != "" && snippet != "" && !strings.HasSuffix(title, ":") {
		title += ":"
	}
	return strings.TrimSpace(title + " " + snippet)
}
