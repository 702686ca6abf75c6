package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// Tables are those of tools.json as this test reads them.
type (
	fileTool struct {
		Name       string
		Common     []string
		Properties map[string]struct {
			Type    string
			Enum    []string
			Default any
		}
		Asks []fileAsk
	}
	fileAsk struct {
		Path, When, Takes, Figures string
		Tables                     []fileTable
	}
	fileTable struct {
		Name, When, Rows, Columns string
		Grouped                   bool
	}
)

func readTools(t *testing.T) []fileTool {
	t.Helper()
	text, err := os.ReadFile("tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Tools []fileTool }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Tools
}

// A comparison is a call and what /api/v1 answers to the same questions with the same key.
type comparison struct {
	*testing.T
	w        *world
	request  string
	args     map[string]string
	result   map[string]any
	compared int
}

func TestToolsAreOfTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	t.Run("figures", w.figures)
	t.Run("wrong calls", w.wrongCalls)
	t.Run("empty results", w.emptyResults)
	t.Run("long results", w.longResults)
	t.Run("strangers", w.strangers)
}

// figures are the literals at their pointers in the bodies of /api/v1, whatever the filters.
func (w *world) figures(t *testing.T) {
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 1))
	session := w.client(t, "owner")
	counts := map[string]int{}
	for range testkit.Draws(3, 60) {
		for _, tool := range readTools(t) {
			if tool.Name == "track" {
				continue
			}
			args := w.randomArguments(random, tool)
			request, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			text, isError := call(t, session, tool.Name, string(request))
			if isError {
				t.Errorf("%s %s: %s", tool.Name, request, text)
				continue
			}
			c := &comparison{T: t, w: w, request: tool.Name + " " + string(request), args: map[string]string{},
				result: decode(t, []byte(text)).(map[string]any)}
			if len(text) > 40_000 {
				t.Errorf("%s has %d bytes", c.request, len(text))
			}
			c.compare(tool, args)
			counts[tool.Name] += c.compared
		}
	}
	for _, tool := range readTools(t) {
		t.Logf("%s: %d cells are those of the API", tool.Name, counts[tool.Name])
		if counts[tool.Name] == 0 && tool.Name != "track" && tool.Name != "suggestions" {
			t.Errorf("%s: nothing was compared", tool.Name)
		}
	}
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// randomArguments draws some of a tool's arguments.
func (w *world) randomArguments(random *rand.Rand, tool fileTool) map[string]any {
	first := w.until.AddDate(0, 0, -1-random.IntN(days))
	args := map[string]any{"brand": pick(random, "fernwood", "Fernwood", w.ours.ID.String())}
	if tool.Name == "list_brands" && random.IntN(2) == 0 {
		return map[string]any{}
	}
	draws := map[string]func() any{
		"date_from": func() any { return first.Format(time.DateOnly) },
		"date_to":   func() any { return w.until.AddDate(0, 0, random.IntN(5)).Format(time.DateOnly) },
		"platform":  func() any { return pick(random, "chatgpt-web", "Perplexity-Web,chatgpt-web") },
		"model":     func() any { return "none" },
		"region":    func() any { return pick(random, "us", "GB", "none") },
		"topic":     func() any { return pick(random, "tents", "Jackets") },
		"kind":      func() any { return "gap,source" },
		"mentioned": func() any { return random.IntN(2) == 0 }, "sentiment": func() any { return random.IntN(2) == 0 },
		"competitor": func() any { return pick(random, "Altrek", "vandrå") },
		"domain":     func() any { return "reddit.com" },
		"limit":      func() any { return 1 + random.IntN(40) },
	}
	for _, name := range slices.Concat(tool.Common, keys(tool.Properties)) {
		p := tool.Properties[name]
		draw, ok := draws[name]
		switch {
		case name == "brand" || random.IntN(3) > 0: // most calls have few filters
		case p.Enum != nil:
			args[name] = pick(random, p.Enum...)
		case ok:
			args[name] = draw()
		}
	}
	return args
}

func keys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// match evaluates the conditions of a table.
func (c *comparison) match(conditions string) bool {
	for condition := range strings.FieldsSeq(conditions) {
		name, values, isValue := strings.Cut(strings.TrimPrefix(condition, "!"), "=")
		value, ok := c.args[name]
		if isValue {
			ok = ok && slices.Contains(strings.Split(values, "|"), value)
		}
		if ok == strings.HasPrefix(condition, "!") {
			return false
		}
	}
	return true
}

var renamed = map[string]string{
	"topic": "topic_id", "competitor": "competitor_id", "source": "source_filter", "brand": "brand_id",
}

// compare asks what the tool asks, and compares the bodies with the result.
func (c *comparison) compare(tool fileTool, sent map[string]any) {
	c.Helper()
	for name, p := range tool.Properties {
		if p.Default != nil {
			c.args[name] = fmt.Sprint(p.Default)
		}
	}
	for name, value := range sent {
		c.args[name] = fmt.Sprint(value)
	}
	if tool.Name == "list_brands" {
		c.args["brands"] = "several"
	}
	if sent["brand"] != nil {
		c.args["brand"] = c.w.ours.ID.String()
	}
	if window, ok := c.result["window"].(map[string]any); ok {
		c.args["date_from"], c.args["date_to"] = window["from"].(string), window["to"].(string)
	}
	c.resolve()
	for _, ask := range tool.Asks {
		if !c.match(ask.When) {
			continue
		}
		query := url.Values{}
		names := append([]string{"brand"}, tool.Common...)
		for condition := range strings.FieldsSeq(ask.Takes) {
			if name, _, _ := strings.Cut(condition, "="); c.match(condition) {
				names = append(names, name)
			}
		}
		for _, name := range names {
			if value, ok := c.args[name]; ok {
				if other, ok := renamed[name]; ok {
					name = other
				}
				query.Set(name, value)
			}
		}
		status, body := c.w.get(c.T, "owner", ask.Path, query)
		if status != 200 {
			c.Errorf("%s: %s?%s: %d %v", c.request, ask.Path, query.Encode(), status, body)
			continue
		}
		c.figures(ask, body)
		c.tables(ask, body)
	}
}

// resolve puts ids in place of names.
func (c *comparison) resolve() {
	c.Helper()
	days := url.Values{
		"brand_id": {c.args["brand"]}, "date_from": {c.args["date_from"]}, "date_to": {c.args["date_to"]},
	}
	for argument, at := range map[string][3]string{
		"topic": {"/filters", "topics", "id"}, "competitor": {"/competitor-comparison", "competitors", "competitor_id"},
	} {
		name, ok := c.args[argument]
		if !ok {
			continue
		}
		_, body := c.w.get(c.T, "owner", at[0], days)
		for _, item := range body.(map[string]any)[at[1]].([]any) {
			if strings.EqualFold(item.(map[string]any)["name"].(string), name) {
				c.args[argument] = item.(map[string]any)[at[2]].(string)
			}
		}
	}
}

// at is the value at a pointer; nil where there is none.
func at(value any, pointer string) any {
	for name := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		if name != "" {
			object, _ := value.(map[string]any)
			value = object[name]
		}
	}
	return value
}

func (c *comparison) figures(ask fileAsk, body any) {
	c.Helper()
	for figure := range strings.FieldsSeq(ask.Figures) {
		name, pointer, _ := strings.Cut(figure, "=")
		want := at(body, pointer)
		if interval, ok := strings.CutSuffix(pointer, "/low,high"); ok {
			want = nil
			if low := at(body, interval+"/low"); low != nil {
				want = []any{low, at(body, interval+"/high")}
			}
		}
		c.equal(name, c.result[name], want)
	}
}

func (c *comparison) tables(ask fileAsk, body any) {
	c.Helper()
	for _, table := range ask.Tables {
		if !c.match(table.When) {
			continue
		}
		rows, columns := table.Rows, strings.Fields(table.Columns)
		if table.Grouped && c.match("group_by") {
			rows, columns = "/groups/*"+rows, append([]string{"group=^/name"}, columns...)
		}
		var want []any
		var names []any
		for _, column := range columns {
			name, _, _ := strings.Cut(column, "=")
			names = append(names, name)
		}
		holders, below := []any{body}, rows
		if list, rest, ok := strings.Cut(rows, "/*"); ok {
			holders, below = at(body, list).([]any), rest
		}
		for _, holder := range holders {
			for child := range strings.SplitSeq(below, ",") {
				list, isList := at(holder, child).([]any)
				if !isList {
					list = []any{at(holder, child)}
				}
				for _, row := range list {
					var cells []any
					for _, column := range columns {
						_, pointer, _ := strings.Cut(column, "=")
						if above, ok := strings.CutPrefix(pointer, "^"); ok {
							cells = append(cells, at(holder, above))
						} else {
							cells = append(cells, at(row, pointer))
						}
					}
					want = append(want, cells)
				}
			}
		}
		shown := c.result
		if table.Name != "" {
			shown, _ = c.result[table.Name].(map[string]any)
		}
		c.equal(table.Name+" columns", shown["columns"], names)
		got, _ := shown["rows"].([]any)
		isCut := fmt.Sprint(len(got)) == c.args["limit"] || strings.Contains(fmt.Sprint(c.result["warnings"]),
			fmt.Sprintf("only %d of %d rows fit", len(got), len(want)))
		if isCut && len(got) < len(want) { // from the end
			want = want[:len(got)]
		}
		c.equal(table.Name+" rows", len(got), len(want))
		for i := range min(len(got), len(want)) {
			c.equal(fmt.Sprintf("%s row %d", table.Name, i), got[i], want[i])
		}
	}
}

func (c *comparison) equal(name string, got, want any) {
	c.Helper()
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s: %s is %v, want %v", c.request, name, got, want)
	}
	switch value := want.(type) {
	case []any:
		c.compared += len(value)
	default:
		c.compared++
	}
}
