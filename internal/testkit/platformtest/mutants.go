package platformtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// mutants changes every field of an answer, in one place and in all places at once: it is missing, renamed, null or of
// another type. What comes back is changed_shape, or an answer that has lost neither text nor a citation, with its
// tokens counted or unknown.
func (s Suite) mutants(t *testing.T, c Case) {
	srv := newServer(t)
	whole, e := s.answer(t, srv, c.Response, c.Want)
	if e != nil {
		t.Fatal(e)
	}
	total, changed, optional := 0, 0, map[string]bool{}
	for _, paths := range groups(fields(decoded(t, c.Response), nil)) {
		for _, how := range []string{"missing", "null", "renamed", "of another type"} {
			total++
			got, e := s.answer(t, srv, mutant(t, c.Response, paths, how), c.Want)
			kind, field := kindOf(paths[0]), fmt.Sprintf("%s in %d places", strings.Join(paths[0], "."), len(paths))
			switch {
			case e != nil && e.Class == platform.ChangedShape:
				changed++
			case e != nil && string(e.Class) == c.Want.Finish: // filtered, now without text
			case e != nil && kind == "error" && how == "of another type": // an error all the same
			case e != nil:
				t.Errorf("%s is %s: %v, want changed_shape", field, how, e)
			case s.Read == nil && got.Usage != nil && (got.Usage.InputTokens == 0 || got.Usage.OutputTokens == 0):
				t.Errorf("%s is %s: usage %+v, want none", field, how, *got.Usage)
			case same(got, whole):
			case s.Read != nil && isPart(got, whole) && (how != "renamed" || isCounted(got, whole) || slices.Equal(parts(got), parts(whole))):
				optional[kind] = true
			case slices.Contains(s.Unseen, kind), (how == "missing" || how == "null") && slices.Contains(s.Optional, kind):
				optional[kind] = true
			case len(paths) == 1 && slices.Contains(s.Sole, kind) && len(got.Unknown) > len(whole.Unknown):
				optional[kind] = true
			default:
				t.Errorf("%s is %s: text or citations are lost: %q with %q, want %q with %q", field, how,
					got.Text, urls(got), whole.Text, urls(whole))
			}
		}
	}
	t.Logf("%d mutants: %d changed_shape, the others with all text and citations but without %v", total, changed, slices.Sorted(maps.Keys(optional)))
	if changed == 0 {
		t.Error("no field of the answer is needed")
	}
}

// groups returns every path alone, and the paths of each kind that has several together.
func groups(paths [][]string) (list [][][]string) {
	byKind := map[string][][]string{}
	for _, path := range paths {
		list = append(list, [][]string{path})
		byKind[kindOf(path)] = append(byKind[kindOf(path)], path)
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if len(byKind[kind]) > 1 {
			list = append(list, byKind[kind])
		}
	}
	return list
}

func same(a, b platform.Reply) bool { return a.Text == b.Text && slices.Equal(parts(a), parts(b)) }

// isPart reports whether an answer of a capture has a text, and no page and no product that the whole answer has not. Its
// fields are so few and so often left out that a missing list is not seen; one that was renamed is counted as unknown.
func isPart(got, whole platform.Reply) bool {
	pages, titles := map[string]bool{}, map[string]bool{}
	for _, c := range whole.Citations {
		pages[c.URL] = true
	}
	for _, p := range whole.Products {
		titles[p.Title] = true
	}
	return strings.TrimSpace(got.Text) != "" && got.Finish == whole.Finish &&
		!slices.ContainsFunc(got.Citations, func(c platform.Citation) bool { return !pages[c.URL] }) &&
		!slices.ContainsFunc(got.Products, func(p event.Product) bool { return !titles[p.Title] })
}

// urls are the URLs of an answer, each with whether it is cited.
func urls(r platform.Reply) (list []string) {
	for _, c := range r.Citations {
		list = append(list, fmt.Sprint(c.URL, " ", c.Cited))
	}
	return list
}

// isCounted reports whether an answer has unknown items that the whole answer has not.
func isCounted(got, whole platform.Reply) bool {
	isNew := func(kind string) bool { return !slices.Contains(whole.Unknown, kind) }
	return len(got.Unknown) > len(whole.Unknown) || slices.ContainsFunc(got.Unknown, isNew)
}

// parts are the URLs and the titles of products of an answer.
func parts(r platform.Reply) []string {
	list := urls(r)
	for _, p := range r.Products {
		list = append(list, p.Title)
	}
	return list
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// fields are the paths of all fields of objects.
func fields(v any, at []string) (paths [][]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := append(slices.Clone(at), name)
			paths = append(append(paths, path), fields(v[name], path)...)
		}
	case []any:
		for i, item := range v {
			paths = append(paths, fields(item, append(slices.Clone(at), strconv.Itoa(i)))...)
		}
	}
	return paths
}

// kindOf is a path without its places in lists.
func kindOf(path []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(path), func(part string) bool { return strings.Trim(part, "0123456789") == "" }), ".")
}

// mutant returns a payload in which the field at each path is changed.
func mutant(t *testing.T, payload []byte, paths [][]string, how string) []byte {
	t.Helper()
	whole := decoded(t, payload)
	for _, path := range paths {
		object, name := at(t, whole, path[:len(path)-1]).(map[string]any), path[len(path)-1]
		old := object[name]
		delete(object, name)
		switch how {
		case "null":
			object[name] = nil
		case "renamed":
			object[name+"_v2"] = old
		case "of another type":
			object[name] = otherType(old)
		}
	}
	return encoded(t, whole)
}

// at returns the value at a path.
func at(t *testing.T, v any, path []string) any {
	t.Helper()
	for _, part := range path {
		switch container := v.(type) {
		case map[string]any:
			v = container[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil {
				t.Fatal(err)
			}
			v = container[i]
		}
	}
	return v
}

func otherType(v any) any {
	switch v.(type) {
	case string, bool, nil:
		return 7
	case []any:
		return map[string]any{}
	case map[string]any:
		return []any{}
	}
	return "7"
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unknown adds a field to every object: nothing is read otherwise.
func (s Suite) unknown(t *testing.T, c Case) {
	srv := newServer(t)
	whole, e := s.answer(t, srv, c.Response, c.Want)
	if e != nil {
		t.Fatal(e)
	}
	got, e := s.answer(t, srv, encoded(t, withUnknown(decoded(t, c.Response))), c.Want)
	if e != nil {
		t.Fatal(e)
	}
	if len(got.Unknown) != len(whole.Unknown) {
		t.Errorf("passed over %q, want %q", got.Unknown, whole.Unknown)
	}
	got.Unknown = whole.Unknown // an unknown kind may be named after its fields
	if got, want := pretty(wanted(got)), pretty(wanted(whole)); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

func withUnknown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = withUnknown(value)
		}
		v["a_new_field"] = map[string]any{"type": "new", "text": "unknown", "list": []any{1, "two", nil}}
	case []any:
		for i, item := range v {
			v[i] = withUnknown(item)
		}
	}
	return v
}

// unknownItems adds an item of an unknown kind to every list of items that is read: it is counted, and nothing is read otherwise.
// Where the text's list has no other items, the answer is of a changed shape.
func (s Suite) unknownItems(t *testing.T, c Case) {
	srv := newServer(t)
	want, e := s.answer(t, srv, c.Response, c.Want)
	if e != nil {
		t.Fatal(e)
	}
	for _, first := range []bool{true, false} {
		answer, added := decoded(t, c.Response), 0
		for _, path := range slices.Backward(fields(answer, nil)) { // a list below an item before the item's place changes
			if items, ok := at(t, answer, path).([]any); ok && len(items) > 0 && slices.Contains(s.Lists, kindOf(path)) && !(first && s.isNumbered(kindOf(path))) {
				added++
				setItems(t, answer, path, items, first)
			}
		}
		got, e := s.answer(t, srv, encoded(t, answer), c.Want)
		if e != nil {
			t.Fatalf("first %t: %v", first, e)
		}
		if len(got.Unknown) != len(want.Unknown)+added {
			t.Errorf("first %t: passed over %q, want %d items more than %q", first, got.Unknown, added, want.Unknown)
		}
		got.Unknown = want.Unknown
		if got, want := pretty(wanted(got)), pretty(wanted(want)); got != want {
			t.Errorf("first %t: read\n%s\nwant\n%s", first, got, want)
		}
	}
	answer := decoded(t, c.Response)
	for _, path := range fields(answer, nil) {
		if kindOf(path) == s.Lists[0] {
			setItems(t, answer, path, nil, true)
		}
	}
	if _, e := s.answer(t, srv, encoded(t, answer), c.Want); e == nil || e.Class != platform.ChangedShape && string(e.Class) != c.Want.Finish {
		t.Errorf("with unknown items alone: %v, want changed_shape", e)
	}
}

// isNumbered reports whether other fields name the items of a list by their places.
func (s Suite) isNumbered(list string) bool {
	return slices.ContainsFunc(s.Sole, func(field string) bool { return strings.HasPrefix(field, list+".") })
}

// setItems sets a list to items and one of an unknown kind.
func setItems(t *testing.T, answer any, path []string, items []any, first bool) {
	t.Helper()
	item := map[string]any{"type": "a_new_type", "a_new_field": map[string]any{"text": "unknown", "url": "https://unknown.example/"}}
	if first {
		items = append([]any{item}, items...)
	} else {
		items = append(items, item)
	}
	at(t, answer, path[:len(path)-1]).(map[string]any)[path[len(path)-1]] = items
}

// cut ends the JSON of an answer early, in eight places: what is left is no answer.
func (s Suite) cut(t *testing.T, c Case) {
	srv := newServer(t)
	text := strings.TrimSpace(string(c.Response))
	for i := range 8 {
		if _, e := s.answer(t, srv, []byte(text[:len(text)*i/8+min(i, 1)*(len(text)/8-1)]), c.Want); e == nil || e.Class != platform.ChangedShape {
			t.Errorf("the first %d of 8 parts: %v, want changed_shape", i, e)
		}
	}
}
