package capture

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// answer collects the parts of a capture while its payload is read.
type answer struct {
	wire.Draft
	request  request
	products []event.Product
	cards    []string // ids of products
}

// cite adds a page that the answer cites. A search at Google is only consulted.
func (a *answer) cite(address, title string) {
	page, isGoogle := cleanURL(address)
	if isGoogle {
		a.consult(page, title)
		return
	}
	a.Cite(page, truncate(title, event.MaxTitle), 0, 0)
}

// consult adds a page that the answer lists without citing it.
func (a *answer) consult(address, title string) {
	page, _ := cleanURL(address)
	a.Consult(page, truncate(title, event.MaxTitle))
}

// truncate returns the beginning of a text that is too long for a record: a provider's field may hold a paragraph.
func truncate(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}

// search adds a query. The prompt itself is none.
func (a *answer) search(query string) {
	if query = strings.TrimSpace(query); !strings.EqualFold(query, strings.TrimSpace(a.request.Text)) {
		a.Search(query)
	}
}

// pages adds the pages of a list, which may be missing. A page is an address, or an object with an address and a title
// under one of several names, such as "title|text". One without an address is changed_shape.
func pages(o wire.Object, path, addresses, titles string, add func(address, title string)) error {
	list, isList := o.Value(path).([]any)
	if !isList && o.Value(path) != nil {
		return wire.ChangedShape("%s is no list", path)
	}
	for i, item := range list {
		page, isObject := item.(map[string]any)
		address, isText := item.(string)
		if isObject {
			address, isText = firstValue(page, addresses).(string)
		}
		if !isText {
			return wire.ChangedShape("%s[%d] has no field %s", path, i, addresses)
		}
		title, _ := firstValue(page, titles).(string)
		add(address, title)
	}
	return nil
}

// firstValue returns the first value that an object has under one of several names, such as "title|text".
func firstValue(o wire.Object, names string) any {
	for name := range strings.SplitSeq(names, "|") {
		if value := o.Value(name); value != nil {
			return value
		}
	}
	return nil
}

// texts returns the texts of a list, or the one text in its place. An item may be an object with the text as query.
func texts(o wire.Object, path string) []string {
	list := o.Texts(path)
	for _, item := range o.List(path) {
		if query := item.Text("query"); query != "" {
			list = append(list, query)
		}
	}
	if text := o.Text(path); text != "" {
		list = append(list, text)
	}
	return list
}

// firstText returns the first of several texts that is not blank.
func firstText(o wire.Object, paths ...string) string {
	for _, path := range paths {
		if text := o.Text(path); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

var htmlPage = regexp.MustCompile(`(?i)^\s*<(?:!doctype|html)\b`)

// reply returns the answer with its text. cost is in US dollars; "" leaves it to the list of prices.
func (a *answer) reply(text, model, cost string) (platform.Reply, error) {
	if htmlPage.MatchString(text) {
		return platform.Reply{}, wire.ChangedShape("the text is a page of HTML")
	}
	a.Write(withoutFurniture(strings.ToValidUTF8(text, "")))
	reply, err := a.Reply(event.FinishComplete, model, nil, nil)
	if err == nil {
		reply.Products, reply.Usage = a.products, costUsage(cost)
	}
	return reply, err
}

// notShown returns the observation that Google showed no overview on a page. A part of the page that is named like one
// is proof of a changed shape.
func notShown(page wire.Object, cost string) (platform.Reply, error) {
	for name, part := range page {
		if part != nil && strings.Contains(strings.ToLower(name), "overview") {
			return platform.Reply{}, wire.ChangedShape("the overview may stand in the field %s", name)
		}
	}
	return platform.Reply{Finish: event.FinishNotShown, Usage: costUsage(cost)}, nil
}

func costUsage(cost string) *event.Usage { return &event.Usage{CostUSD: cost} }

// isOverview reports whether the surface may be missing from its page.
func (r request) isOverview() bool { return r.surface == "google-ai-overview" }

// country returns the country of a request, for example "US"; "" none.
func (r request) country() string {
	if region, err := language.ParseRegion(r.Region); err == nil {
		return region.Canonicalize().String() // GB of "uk"
	}
	return strings.ToUpper(r.Region)
}

// place returns the country of a request; without one the United States. A region of another kind is an error of class
// invalid: no provider can take it.
func (r request) place() (language.Region, error) {
	region, err := language.ParseRegion(cmp.Or(r.country(), "US"))
	if err != nil || !region.IsCountry() {
		cause := fmt.Errorf("region %.60q: want a country, such as us", r.Region)
		return region, &platform.Error{Class: platform.Invalid, Cause: cause}
	}
	return region, nil
}

// languageTag returns the language of a request, English without one.
func (r request) languageTag() language.Tag { return language.Make(cmp.Or(r.Language, "en")) }

// googleLanguage returns the language of a request as Google lists it: without a region but for Chinese and Portuguese.
func (r request) googleLanguage() string {
	tag := r.languageTag()
	base, _ := tag.Base()
	script, _ := tag.Script()
	switch name := base.String(); {
	case name == "zh" && script.String() == "Hant":
		return "zh-tw"
	case name == "zh":
		return "zh-cn"
	case tag == language.BrazilianPortuguese || tag == language.EuropeanPortuguese:
		return strings.ToLower(tag.String())
	case name == "he":
		return "iw"
	case name == "nb":
		return "no"
	default:
		return name
	}
}

// postJob sends a question, and returns the job that the provider made of it. Its id stands at a path of the answer.
func (r request) postJob(ctx context.Context, address string, question any, path string) (submission, error) {
	raw, err := r.account.Post(ctx, address, question)
	if err != nil {
		return submission{}, err
	}
	job, err := wire.Decode(raw)
	id := cmp.Or(job.Text(path), job.Decimal(path))
	switch {
	case err != nil:
		return submission{}, err
	case id == "" && job["error"] != nil:
		return submission{}, r.account.Failed(raw)
	case id == "":
		return submission{}, wire.ChangedShape("the job has no field %s", path)
	}
	return submission{jobID: id}, nil
}

// getJob asks for a job, as an object and as it was received. It is nil while the provider has no word of it.
func (a account) getJob(ctx context.Context, address string) (job wire.Object, raw []byte, err error) {
	if raw, err = a.Get(ctx, address); err == nil && len(raw) > 0 {
		job, err = wire.Decode(raw)
	}
	return job, raw, err
}
