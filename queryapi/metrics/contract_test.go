package metrics

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/answerscope/answerscope/ingest/event"
)

// A contract is openapi.json as its readers understand it. Every response that a test of this package gets is held
// against it.
type contract struct {
	document   any
	compiler   *jsonschema.Compiler
	operations map[string]*operation // by path
	refusal    *jsonschema.Schema    // the body of a request that reaches no operation
}

// An operation is GET on one path.
type operation struct {
	path       string
	at         string // where it is in the document, a JSON Pointer
	keyless    bool
	parameters []parameter // of the query string
	inPath     []parameter
	responses  map[int]response
}

// reads says whether an operation has a parameter of a name.
func (o *operation) reads(name string) bool {
	return slices.ContainsFunc(o.parameters, func(p parameter) bool { return p.Name == name })
}

// A parameter as the document describes it.
type parameter struct {
	Name, In, Description string
	Required              bool
	Example               any
	schema                *jsonschema.Schema
}

// A response of one status: nil stands for what is not there.
type response struct {
	body    *jsonschema.Schema
	example any
	headers map[string]*jsonschema.Schema
}

const documentURL = "file:///openapi.json"

var theContract = sync.OnceValues(readContract)

func contractOf(t *testing.T) *contract {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readContract() (*contract, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(description))
	if err != nil {
		return nil, err
	}
	c := &contract{document: document, compiler: jsonschema.NewCompiler(), operations: map[string]*operation{}}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	if c.refusal, err = c.schema("/components/schemas/Error"); err != nil {
		return nil, err
	}
	for path := range c.members("/paths") {
		if c.operations[path], err = c.operation(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return c, nil
}

func (c *contract) operation(path string) (*operation, error) {
	o := &operation{path: path, at: "/paths/" + member(path) + "/get", responses: map[int]response{}}
	security, said := c.find(o.at + "/security")
	o.keyless = said && len(security.([]any)) == 0
	parameters, _ := c.find(o.at + "/parameters")
	list, _ := parameters.([]any)
	for i := range list {
		p, err := c.parameter(c.follow(fmt.Sprintf("%s/parameters/%d", o.at, i)))
		if err != nil {
			return nil, err
		}
		if p.In == "path" {
			o.inPath = append(o.inPath, p)
		} else {
			o.parameters = append(o.parameters, p)
		}
	}
	for status := range c.members(o.at + "/responses") {
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, err
		}
		if o.responses[code], err = c.response(c.follow(o.at + "/responses/" + status)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (c *contract) parameter(at string) (p parameter, err error) {
	value, _ := c.find(at)
	text, err := json.Marshal(value)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("read parameter %s: %w", at, err)
	}
	p.schema, err = c.schema(at + "/schema")
	return p, err
}

func (c *contract) response(at string) (r response, err error) {
	r.headers = map[string]*jsonschema.Schema{}
	for name := range c.members(at + "/headers") {
		if r.headers[name], err = c.schema(c.follow(at+"/headers/"+name) + "/schema"); err != nil {
			return r, err
		}
	}
	content := at + "/content/" + member("application/json")
	if _, ok := c.find(content); ok {
		r.example, _ = c.find(content + "/example")
		r.body, err = c.schema(content + "/schema")
	}
	return r, err
}

func (c *contract) schema(at string) (*jsonschema.Schema, error) {
	return c.compiler.Compile(documentURL + "#" + strings.ReplaceAll(at, "%", "%25"))
}

// find is what is at a JSON Pointer.
func (c *contract) find(at string) (value any, ok bool) {
	value = c.document
	for part := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch of := value.(type) {
		case map[string]any:
			value, ok = of[part]
		case []any:
			i, err := strconv.Atoi(part)
			if ok = err == nil && i < len(of); ok {
				value = of[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return value, true
}

// follow is where a reference at a JSON Pointer leads to, or the pointer itself.
func (c *contract) follow(at string) string {
	value, _ := c.find(at)
	if object, ok := value.(map[string]any); ok {
		if ref, ok := object["$ref"].(string); ok {
			return strings.TrimPrefix(ref, "#")
		}
	}
	return at
}

func (c *contract) members(at string) map[string]any {
	value, _ := c.find(at)
	object, _ := value.(map[string]any)
	return object
}

// member is a name as it stands in a JSON Pointer.
func member(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// hold says what of a response the document does not allow.
func (c *contract) hold(t *testing.T, method, target string, r reply) {
	t.Helper()
	path, _, _ := strings.Cut(target, "?")
	o, known := c.operations[anyAnswer.ReplaceAllString(path, "/answers/{id}")]
	var wrong error
	switch {
	case !known:
		wrong = refused(c.refusal, r, http.StatusNotFound)
	case method == http.MethodGet:
		wrong = o.allows(r)
	case method == http.MethodHead:
		if _, documented := o.responses[r.StatusCode]; !documented || r.body != "" {
			wrong = fmt.Errorf("%d is not documented, or has a body", r.StatusCode)
		}
	default:
		wrong = refused(c.refusal, r, http.StatusMethodNotAllowed)
	}
	if wrong != nil {
		t.Errorf("%s %s breaks the contract: %v\n%d %s", method, target, wrong, r.StatusCode, r.body)
	}
}

// anyAnswer is a path with a parameter.
var anyAnswer = regexp.MustCompile("/answers/[^/]+$")

func refused(refusal *jsonschema.Schema, r reply, status int) error {
	if r.StatusCode != status {
		return fmt.Errorf("want status %d", status)
	}
	return valid(refusal, r.body)
}

func (o *operation) allows(r reply) error {
	described, ok := o.responses[r.StatusCode]
	if !ok {
		return fmt.Errorf("it has no response %d", r.StatusCode)
	}
	for name, schema := range described.headers {
		if name == "Link" && len(r.Header.Values(name)) == 0 { // the only one that is not required
			continue
		}
		if err := schema.Validate(r.Header.Get(name)); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	switch {
	case described.body == nil && r.body != "":
		return fmt.Errorf("it has a body")
	case described.body == nil, slices.Contains([]string{"gzip", "br"}, r.Header.Get("Content-Encoding")):
		return nil
	case r.StatusCode == http.StatusOK && r.Header.Get("Content-Type") == "text/csv; charset=utf-8; header=present":
		_, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
		return err
	case r.Header.Get("Content-Type") != "application/json":
		return fmt.Errorf("it is %q", r.Header.Get("Content-Type"))
	}
	return valid(described.body, r.body)
}

func valid(schema *jsonschema.Schema, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// fill appends so much of a brand that each value of each parameter makes a difference.
func (s *stage) fill(t *testing.T) {
	t.Helper()
	s.addRivals(t, []string{"Glow"})
	for _, f := range []brandFact{
		{Organization: "rival", Name: "Other", Slug: "other"}, {Name: "Nova", Slug: "nova"},
		{Name: "Zeta", Slug: "zeta"},
	} {
		s.addBrand(t, f)
	}
	var facts []answerFact
	for i := range 12 {
		f := answerFact{
			On: dayText(today.AddDate(0, 0, -i)), Prompt: fmt.Sprintf("p%d", i), Branded: new(i%2 == 0),
			Region: []string{"de", "us"}[i%2],
			Text:   strings.Repeat("Lumen. ", i) + "Glow.", Times: 1 + i*7%12,
		}
		for page := range i * 5 % 12 {
			f.Cites = append(f.Cites, fmt.Sprintf("https://lumen.example/%d", page))
		}
		facts = append(facts, f)
	}
	for day := range 12 { // 4 of the window, 8 before
		on := dayText(today.AddDate(0, 0, -day-min(day/4, 1)*30))
		for i := range 12 {
			facts = append(facts, answerFact{
				On: on, Prompt: fmt.Sprintf("p%d", i), Branded: new(i%2 == 0),
				Region: []string{"de", "us"}[i%2], Text: "Lumen",
			})
			if i < 5 && day > 0 {
				facts = append(facts, answerFact{
					Brand: "nova", On: on, Prompt: fmt.Sprintf("p%d", i), Text: []string{
						"Nova", "Lumen",
					}[min(1, (day+i)%2+day/4)],
				})
			}
		}
	}
	shown := answerFact{On: dayText(today), Branded: new(false), Cites: []string{"https://rival0.example/"}}
	own := answerFact{On: dayText(today)}
	for i := range 60 {
		own.Cites = append(own.Cites, fmt.Sprintf("https://lumen.example/%d", i))
		shown.Cites = append(shown.Cites, fmt.Sprintf("https://host%d.example/", i))
		shown.Searches = append(shown.Searches, fmt.Sprint("lamp ", i))
		shown.Products = append(shown.Products, event.Product{
			Title: "A lamp", Brand: []string{"Lumen", "Glow", ""}[i%3],
		})
	}
	listed := answerFact{On: dayText(today), Branded: new(true), Products: []event.Product{{Title: "Lumen One"}}}
	s.addFacts(t, append(facts, shown, own, listed, answerFact{On: dayText(today), NotShown: true})...)
	s.fillTraffic(t)
	if _, err := s.db.Exec(t.Context(), "INSERT INTO public.suggestions (brand_id, kind, text) SELECT $1, 'gap', "+
		"n::text FROM generate_series(1, 60) AS n", s.id("lumen")); err != nil {
		t.Fatal(err)
	}
}
