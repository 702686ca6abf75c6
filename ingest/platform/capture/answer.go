package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// answer is a capture while its payload is read.
type answer struct {
	wire.Draft
	request   request
	payload   []byte
	page      wire.Object // the payload: an object, or the first one of a list
	text      string      // Markdown or plain text
	model     string      // that answered; "" unknown
	cost      string      // US dollars that the provider reports; "" leaves it to the list of prices
	paidPages int         // where the list's price counts
	isAbsent  bool        // the surface is proven to be missing from its page
	products  []event.Product
	cards     []string      // ids of products
	indexes   []int64       // of references that are cited
	lists     map[*any]bool // the first items of lists that were read
	content   wire.Object   // the part of the payload that holds the answer
	err       error         // about the first part of an unknown form
}

var htmlPage = regexp.MustCompile(`(?i)^\s*<(?:!doctype|html)\b`)

// read reads a payload.
func (a *answer) read(payload []byte) (platform.Reply, error) {
	var err error
	if a.page, err = decodeFirst(payload); err == nil {
		a.payload = payload
		err = a.request.read(a)
	}
	switch {
	case a.isSignIn(): // whose payload may lack any field
		return platform.Reply{}, a.unavailable("the answer is a page to sign in")
	case a.err != nil || err != nil:
		return platform.Reply{}, cmp.Or(a.err, err)
	case a.isAbsent:
		return platform.Reply{Finish: event.FinishNotShown}, nil
	case htmlPage.MatchString(a.text):
		return platform.Reply{}, wire.ChangedShape("the text is a page of HTML")
	}
	a.countUnread("", map[string]any(a.content))
	a.Write(WithoutFurniture(strings.ToValidUTF8(a.text, "")))
	reply, err := a.Reply(event.FinishComplete, a.model, nil, nil)
	if err == nil {
		reply.Products = a.products
	}
	return reply, err
}

// maxWall is the length of a page to sign in, which has no source.
const maxWall = 600

var signInPage = regexp.MustCompile(`(?i)\b(?:sign in|sign up|continue with google|verify you are human)\b`)

// isSignIn reports whether the surface asked to sign in and did not answer.
func (a *answer) isSignIn() bool {
	return len(a.text) < maxWall && signInPage.MatchString(a.text) && !htmlPage.MatchString(a.text) &&
		!a.HasPages() && len(a.products) == 0
}

// decodeFirst returns an object, or the first one of a list.
func decodeFirst(payload []byte) (wire.Object, error) {
	var list []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(payload), []byte("[")) {
		if err := json.Unmarshal(payload, &list); err != nil || len(list) == 0 {
			return nil, wire.ChangedShape("the answer is no list of records")
		}
		payload = list[0]
	}
	return wire.Decode(payload)
}

// changed notes that a part of the payload has an unknown form.
func (a *answer) changed(format string, arguments ...any) {
	if a.err == nil {
		a.err = wire.ChangedShape(format, arguments...)
	}
}

// unavailable returns the error of a capture that failed at the provider.
func (a *answer) unavailable(format string, arguments ...any) error {
	return a.request.account.Unavailable(format, arguments...)
}

// charge stores the cost that the provider reports.
func (a *answer) charge(amount string) {
	if cost, ok := event.Decimal(amount); ok && cost[0] != '-' {
		a.cost = cost
	}
}

// notShown notes that Google showed no overview on a page. A part of the page that is named like one is proof of a
// changed shape.
func (a *answer) notShown(page wire.Object) error {
	for name, part := range page {
		if part != nil && strings.Contains(strings.ToLower(name), "overview") {
			return wire.ChangedShape("the overview may stand in the field %s", name)
		}
	}
	a.isAbsent = true
	return nil
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

// search adds the queries of a list. The prompt itself is none.
func (a *answer) search(queries any) {
	for _, query := range texts(queries, "query") {
		if query = strings.TrimSpace(query); !strings.EqualFold(query, strings.TrimSpace(a.request.Text)) {
			a.Search(query)
		}
	}
}

// pages adds the pages of a list, which may be missing. A page is an address, or an object that has addresses and a
// title under one of several names, such as "title|text". A page without an address is a changed shape.
func (a *answer) pages(o wire.Object, path, addresses, titles string, add func(address, title string)) {
	for i, page := range a.list(o, path) {
		urls := texts(page, addresses)
		if len(urls) == 0 {
			a.changed("%s[%d] has no field %s", path, i, addresses)
		}
		fields, _ := page.(map[string]any)
		title := text(fields, strings.Split(titles, "|")...)
		for _, address := range urls {
			add(address, title)
		}
	}
}

// list returns a list, which may be missing.
func (a *answer) list(o wire.Object, path string) []any {
	list, isList := o.Value(path).([]any)
	if !isList && o.Value(path) != nil {
		a.changed("%s is no list", path)
	}
	if len(list) > 0 {
		a.lists[&list[0]] = true
	}
	return list
}

// require checks that an object has a list, which providers send also when it is empty.
func (a *answer) require(o wire.Object, list string) {
	if _, has := o[list]; !has {
		a.changed("the answer has no list %s", list)
	}
}

// countUnread counts the lists of pages or cards that were not read and are not known to hold others: one of them may
// be a list that was renamed. Without it an answer cannot be distinguished from one that has no such list.
func (a *answer) countUnread(name string, value any) {
	if slices.Contains(a.request.ignored, name) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if kind := wire.Object(value).Kind(); slices.Contains(a.request.ignored, kind) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			a.countUnread(name, value[name])
		}
	case []any:
		switch {
		case len(value) == 0 || a.lists[&value[0]]:
		case slices.ContainsFunc(value, isPageOrCard):
			a.PassOver(name)
		default:
			for _, item := range value {
				a.countUnread(name, item)
			}
		}
	}
}

func isPageOrCard(item any) bool {
	address, _ := item.(string)
	o, _ := item.(map[string]any)
	isCard := text(o, "title", "name") != "" && pick(o, prices...) != nil
	return isCard || platform.IsURL(cmp.Or(address, text(o, "url", "link", "href")))
}

// texts returns the texts in a value: itself, the items of a list, or what an object has under the first of several
// names that holds a text.
func texts(value any, names string) (list []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			list = append(list, texts(item, names)...)
		}
	case map[string]any:
		for name := range strings.SplitSeq(names, "|") {
			if list = texts(value[name], names); len(list) > 0 {
				break
			}
		}
	}
	return list
}

// pick returns the first text or number of an object at one of several paths that is not blank, else nil. Of a list it
// takes the first item.
func pick(o wire.Object, paths ...string) any {
	for _, path := range paths {
		var value any = map[string]any(o)
		for name := range strings.SplitSeq(path, ".") {
			inner, _ := value.(map[string]any)
			value = inner[name]
			if list, ok := value.([]any); ok {
				value = append(list, nil)[0]
			}
		}
		switch value := value.(type) {
		case json.Number:
			return value
		case string:
			if strings.TrimSpace(value) != "" {
				return value
			}
		}
	}
	return nil
}

// text returns the text that pick finds.
func text(o wire.Object, paths ...string) string {
	value, _ := pick(o, paths...).(string)
	return strings.TrimSpace(value)
}

// number returns the number that pick finds, which may be written as a text; or any other text.
func number(o wire.Object, paths ...string) string {
	if value, ok := pick(o, paths...).(json.Number); ok {
		return value.String()
	}
	return text(o, paths...)
}

// reason returns the provider's reason why a job or a record failed.
func reason(o wire.Object) string {
	return number(o, "task.error", "task.error.message", "response.error", "response.error.message",
		"error", "error.message", "error_code")
}

// isOverview reports whether the surface may be missing from its page.
func (r request) isOverview() bool { return r.surface == overview }

// languageTag returns the language of a request, English without one.
func (r request) languageTag() language.Tag { return language.Make(cmp.Or(r.Language, "en")) }

// googleNames are the languages that Google lists under an older name.
var googleNames = map[string]string{"he": "iw", "nb": "no"}

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
	default:
		return cmp.Or(googleNames[name], name)
	}
}

// maxJobID limits the id of a job, in bytes.
const maxJobID = 512

// postJob sends a question, and returns the job that the provider made of it. Its id stands at a path of the answer.
func (r request) postJob(ctx context.Context, address string, question any, path string) (submission, error) {
	raw, err := r.account.Post(ctx, address, question)
	if err != nil {
		return submission{}, err
	}
	job, err := wire.Decode(raw)
	id := number(job, path)
	switch {
	case err != nil:
		return submission{}, err
	case id == "" && job["error"] != nil:
		return submission{}, r.account.Failed(raw)
	case id == "" || len(id) > maxJobID || strings.ContainsRune(id, 0):
		return submission{}, wire.ChangedShape("the job has no id of at most %d bytes in the field %s", maxJobID, path)
	}
	return submission{jobID: id}, nil
}
