package metrics

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/queryapi/auth"
)

// What the description says of requests, asked of a server.
func TestTheServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.fill(t)
	for name, test := range map[string]func(*testing.T, *stage){
		"document":   theDocumentIsSentAsItIs,
		"names":      itReadsWhatIsDescribedAndNothingElse,
		"values":     itTakesWhatIsDescribedAndNothingElse,
		"defaults":   whatIsAbsentIsItsDefault,
		"statuses":   eachDescribedStatusHappens,
		"any values": itTakesWhateverIsDescribed,
		"cursors":    aCursorIsRefusedWithAnotherFilter,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func theDocumentIsSentAsItIs(t *testing.T, s *stage) {
	r := s.ask(t, http.MethodGet, prefix+descriptionPath)
	if r.StatusCode != 200 || r.body != string(description) {
		t.Errorf("%d, %d bytes of %d", r.StatusCode, len(r.body), len(description))
	}
}

// Every text in the source of this package that could be the name of a parameter is given twice, as is every name that
// is described: what an endpoint reads, it then refuses.
func itReadsWhatIsDescribedAndNothingElse(t *testing.T, s *stage) {
	c := contractOf(t)
	names := namesInSource(t)
	for _, o := range c.operations {
		for _, p := range o.parameters {
			names[p.Name] = true
		}
	}
	for path, o := range c.operations {
		var described, read []string
		for _, p := range o.parameters {
			described = append(described, p.Name)
		}
		for some := range slices.Chunk(slices.Sorted(maps.Keys(names)), 40) {
			var query []string
			for _, name := range some {
				query = append(query, name+"=x", name+"=x")
			}
			_, body := s.get(t, "acme", s.path(o, "lumen")+"?"+strings.Join(query, "&"))
			for complaint := range strings.SplitSeq(refusalOf(t, path, body), "; ") {
				if name, said, _ := strings.Cut(complaint, ": "); strings.HasSuffix(said, "once, got it 2 times") {
					read = append(read, name)
				}
			}
		}
		slices.Sort(read)
		slices.Sort(described)
		if !slices.Equal(read, described) {
			t.Errorf("%s reads %q, described are %q", path, read, described)
		}
	}
}

func namesInSource(t *testing.T) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	names := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(text) {
					names[text] = true
				}
			}
			return true
		})
	}
	if !names["brand_id"] || !names["limit"] {
		t.Fatalf("found only %v", names)
	}
	return names
}

// refusalOf is the message of an error, "" of another body.
func refusalOf(t *testing.T, path, body string) string {
	t.Helper()
	var refusal struct{ Error string }
	if err := json.Unmarshal([]byte(body), &refusal); err != nil {
		t.Fatal(path, err, body)
	}
	return refusal.Error
}

// rules are a parameter's schema, or the one that it refers to.
func (p parameter) rules() *jsonschema.Schema {
	if p.schema.Ref != nil {
		return p.schema.Ref
	}
	return p.schema
}

// words are the only values of a parameter, in code-point order, if there are such.
func (p parameter) words() []string {
	var words []string
	if enum := p.rules().Enum; enum != nil {
		for _, word := range enum.Values {
			words = append(words, word.(string))
		}
		slices.Sort(words)
	}
	return words
}

// bounds are the least and the most that an integer may be.
func (p parameter) bounds() (least, most int64, ok bool) {
	r := p.rules()
	if r.Minimum == nil || r.Maximum == nil {
		return 0, 0, false
	}
	return r.Minimum.Num().Int64(), r.Maximum.Num().Int64(), true
}

func (p parameter) format() string {
	if f := p.rules().Format; f != nil {
		return f.Name
	}
	return ""
}

// allows says whether a value that stands in a query string is one that the schema describes.
func (p parameter) allows(value string) bool {
	if n, err := strconv.ParseFloat(value, 64); err == nil && p.rules().Types.ToStrings()[0] == "integer" {
		return p.schema.Validate(json.Number(strconv.FormatFloat(n, 'f', -1, 64))) == nil
	}
	return p.schema.Validate(value) == nil
}

// examples are values at the edges of what is described, and right beyond.
func (p parameter) examples() (right, wrong []string) {
	wrong = []string{""}
	least, most, counted := p.bounds()
	switch {
	case p.words() != nil:
		right = p.words()
		for _, word := range right {
			wrong = append(wrong, word+"s", strings.ToUpper(word), " "+word)
		}
	case counted:
		right = []string{fmt.Sprint(least), fmt.Sprint(most)}
		wrong = append(wrong, fmt.Sprint(least-1), fmt.Sprint(most+1), "1.5", "one", "1e300", fmt.Sprint(1<<32+1))
	case p.format() == "uuid":
		id := uuid.Must(uuid.NewV4()).String()
		wrong = append(wrong, "x", id[1:], "{"+id+"}", "urn:uuid:"+id, strings.ReplaceAll(id, "-", ""))
	case p.format() == "date":
		right = []string{dayText(today), dayText(today.AddDate(0, 0, -29))}
		wrong = append(wrong, "2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", "today")
	case p.Name == "group_by": // a list of words
		right = []string{"platform", "platform, topic", "prompt,competitor", "competitor,prompt,topic,platform"}
		wrong = append(wrong, ",", "model", "platforms", "Platform", "platform,,topic", "platform,model")
	case p.Name == "kind":
		right = []string{"gap", " gap\t,\u3000source", "theme,alias,page"}
		wrong = append(wrong, ",", "gaps", "Gap", "gap,,source", "gap,model")
	case p.Name == "status":
		right = []string{"new", "added , closed", "dismissed,new"}
		wrong = append(wrong, ",", "open", "New", "new,,added")
	case p.Name == "platform":
		right = []string{"openai, Gemini", "\ufeff"}
		wrong = append(wrong, "a\x00b", ",", "openai,,gemini", " ", "openai,\u0085\u3000")
	case p.Name == "model":
		right = []string{"gpt", "gpt,sonar", "gpt, Sonar", "'", "東京"}
		wrong = append(wrong, "a\x00b", ",", "gpt,", "gpt,,sonar", "gpt, ,sonar")
	case p.Name == "cursor":
		wrong = append(wrong, "?", "1 2")
	default:
		right = []string{"de", " ", ",", "'", `\`, "東京", "e\u0301", "😀", "\x7f"}
		wrong = append(wrong, "a\x00b")
	}
	return right, wrong
}

// target is a request of an operation for the brand of a slug.
func (s *stage) target(o *operation, slug string, pairs ...string) string {
	query := url.Values{}
	if o.reads("brand_id") {
		query.Set("brand_id", s.ids[slug])
	}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return s.path(o, slug) + "?" + query.Encode()
}

// path is that of an operation, for an answer of the brand of a slug.
func (s *stage) path(o *operation, slug string) string {
	id, known := s.answered[slug]
	if !known {
		id = uuid.Must(uuid.NewV4())
	}
	return strings.ReplaceAll(o.path, "{id}", id.String())
}

func itTakesWhatIsDescribedAndNothingElse(t *testing.T, s *stage) {
	operations := contractOf(t).operations
	for turn, path := range slices.Sorted(maps.Keys(operations)) {
		o := operations[path]
		s.itTakesWhatIsRight(t, o, turn)
		status, body := s.get(t, "acme", s.path(o, "lumen"))
		for _, p := range o.parameters {
			missed := strings.HasPrefix(refusalOf(t, path, body), p.Name+": want ")
			if p.Required != missed || missed && status != 400 {
				t.Errorf("%s without %s, required %v: %d %s", path, p.Name, p.Required, status, body)
			}
			_, wrong := p.examples()
			for _, value := range wrong {
				status, body := s.get(t, "acme", s.target(o, "lumen", p.Name, value))
				if words := p.words(); words != nil && !slices.Equal(words, wordsWanted(refusalOf(t, path, body))) {
					t.Errorf("%s: %s is described as one of %q: %s", path, p.Name, words, body)
				}
				if status != 400 || !strings.HasPrefix(refusalOf(t, path, body), p.Name+": ") || p.allows(value) {
					t.Errorf("%s, %s=%q: %d %s; described %v", path, p.Name, value, status, body, p.allows(value))
				}
			}
		}
	}
}

// itTakesWhatIsRight gives every parameter its first right value, then its second, and so on: a refusal names each
// value that it does not take. Of the free texts, which all endpoints read alike, each endpoint gets some: those of its
// turn.
func (s *stage) itTakesWhatIsRight(t *testing.T, o *operation, turn int) {
	t.Helper()
	for n := 0; ; n++ {
		var pairs []string
		for _, p := range o.parameters {
			right, _ := p.examples()
			if p.words() == nil && len(right) > 5 {
				right = slices.Concat(right[turn%len(right):], right)[:3]
			}
			if n >= len(right) {
				continue
			}
			if pairs = append(pairs, p.Name, right[n]); !p.allows(right[n]) {
				t.Errorf("%s: %s=%q is not as described", o.path, p.Name, right[n])
			}
		}
		if pairs == nil {
			return
		}
		if status, body := s.get(t, "acme", s.target(o, "lumen", pairs...)); status != 200 {
			t.Errorf("%s, %q: %d %s", o.path, pairs, status, body)
		}
	}
}

// wordsWanted are what a refusal says that a value may be, in code-point order.
func wordsWanted(refusal string) []string {
	_, list, _ := strings.Cut(refusal, ": want one of ")
	list, _, _ = strings.Cut(list, ", got ")
	words := strings.Split(list, ", ")
	slices.Sort(words)
	return words
}

// A default value has no effect, and any other value has.
func whatIsAbsentIsItsDefault(t *testing.T, s *stage) {
	for path, o := range contractOf(t).operations {
		var defaults []string
		_, absent := s.get(t, "acme", s.target(o, "lumen"))
		for _, p := range o.parameters {
			if p.schema.Default == nil {
				continue
			}
			usual := fmt.Sprint(*p.schema.Default)
			defaults = append(defaults, p.Name, usual)
			others := p.words()
			if n, err := strconv.Atoi(usual); err == nil {
				others = []string{fmt.Sprint(n - 1), fmt.Sprint(n + 1)}
			}
			for _, other := range others {
				if other == usual {
					continue
				}
				if _, body := s.get(t, "acme", s.target(o, "lumen", p.Name, other)); body == absent {
					t.Errorf("%s: %s=%s is as without it: %s", path, p.Name, other, body)
				}
			}
		}
		if _, body := s.get(t, "acme", s.target(o, "lumen", defaults...)); body != absent {
			t.Errorf("%s: %q is not what it is without: %s", path, defaults, body)
		}
	}
}

// Every status that is described can be brought about, by a request as it says, and a key is wanted where it says so.
func eachDescribedStatusHappens(t *testing.T, s *stage) {
	tracking := s.mint(t, "acme", auth.TrackingWrite)
	closed := openPostgres(t)
	broken := *s
	broken.service = &service{url: serve(t, closed, s.warehouse), db: closed}
	closed.Close()
	cut := testkit.NewProxy(t, s.db.Config().ConnString())
	away := &service{url: serve(t, behind(t, cut), s.warehouse)}
	cut.Cut()
	limited := &service{url: serveWith(t, Config{RateLimit: 1}, s.db, s.warehouse)}
	for path, o := range contractOf(t).operations {
		seen := map[int]bool{}
		if o.responses[http.StatusTooManyRequests].body != nil &&
			limited.refusesSome(t, s.target(o, "lumen"), s.bearer("acme")) {
			seen[http.StatusTooManyRequests] = true
		}
		first := s.ask(t, http.MethodGet, s.target(o, "lumen"), s.bearer("acme"))
		for _, r := range []reply{
			first,
			s.ask(t, http.MethodGet, s.target(o, "lumen"), s.bearer("acme"),
				"If-None-Match: "+first.Header.Get("ETag")),
			s.ask(t, http.MethodGet, s.target(o, "other"), s.bearer("acme")),
			s.ask(t, http.MethodGet, s.target(o, "unknown"), s.bearer("acme")),
			s.ask(t, http.MethodGet, s.target(o, "lumen", "plattform", "openai"), s.bearer("acme")),
			s.ask(t, http.MethodGet, s.target(o, "lumen")),
			s.ask(t, http.MethodGet, s.target(o, "lumen"), "Authorization: Bearer "+tracking),
			broken.ask(t, http.MethodGet, s.target(o, "lumen"), s.bearer("acme")),
			away.ask(t, http.MethodGet, s.target(o, "lumen"), s.bearer("acme")),
		} {
			seen[r.StatusCode] = true
		}
		if got, want := slices.Sorted(maps.Keys(seen)),
			slices.Sorted(maps.Keys(o.responses)); !slices.Equal(got, want) || seen[401] == o.keyless {
			t.Errorf("%s answered %v, described are %v; keyless %v", path, got, want, o.keyless)
		}
	}
}

// Whatever is made of what is described is answered; with one thing that is not, it is refused by that thing's name.
func itTakesWhateverIsDescribed(t *testing.T, s *stage) {
	c := contractOf(t)
	rapid.Check(t, func(r *rapid.T) {
		o := c.operations[rapid.SampledFrom(paths()).Draw(r, "path")]
		query, wanted := url.Values{}, 200
		for _, p := range o.parameters {
			if value := s.any(r, p); p.Required || value != "" && rapid.Bool().Draw(r, "with "+p.Name) {
				query.Set(p.Name, value)
			}
		}
		settle(query, o)
		if id := query.Get("brand_id"); id != "" && id != s.ids["lumen"] {
			wanted = 404
		}
		if status, body := s.get(t, "acme", s.path(o, "lumen")+"?"+query.Encode()); status != wanted {
			r.Fatalf("%s?%s: %d %s, want %d", o.path, query.Encode(), status, body, wanted)
		}
		if len(o.parameters) == 0 {
			return
		}
		p := rapid.SampledFrom(o.parameters).Draw(r, "parameter")
		_, wrong := p.examples()
		query.Set(p.Name, rapid.SampledFrom(wrong).Draw(r, "wrong "+p.Name))
		status, body := s.get(t, "acme", s.path(o, "lumen")+"?"+query.Encode())
		if refusal := refusalOf(t, o.path, body); status != 400 || !strings.HasPrefix(refusal, p.Name+": ") {
			r.Fatalf("%s?%s: %d %s", o.path, query.Encode(), status, body)
		}
	})
}

// any is some value that is described; "" where there is none but from a response, as for a cursor.
func (s *stage) any(r *rapid.T, p parameter) string {
	least, most, counted := p.bounds()
	switch {
	case p.words() != nil:
		return rapid.SampledFrom(p.words()).Draw(r, p.Name)
	case counted:
		return fmt.Sprint(rapid.Int64Range(least, most).Draw(r, p.Name))
	case p.format() == "uuid":
		return rapid.SampledFrom([]string{s.ids["lumen"], s.ids["lumen"], s.ids["other"],
			uuid.Must(uuid.NewV4()).String(), uuid.Nil.String()}).Draw(r, p.Name)
	case p.format() == "date":
		return dayText(time.Unix(rapid.Int64Range(firstYear.Unix(), lastYear.Unix()).Draw(r, p.Name), 0).UTC())
	case p.Name == "cursor":
		return ""
	case p.Name == "group_by", p.Name == "kind", p.Name == "status":
		right, _ := p.examples()
		return rapid.SampledFrom(right).Draw(r, p.Name)
	}
	some := rapid.String().Filter(func(text string) bool { return len(text) < 200 && p.allows(text) })
	if p.Name == "model" || p.Name == "platform" {
		return strings.Join(rapid.SliceOfN(some, 1, 3).Draw(r, p.Name), ",")
	}
	return some.Draw(r, p.Name)
}

// settle makes a window of two days, which a schema cannot: the second not before the first, nor too long after.
// Without the second it would be today.
func settle(query url.Values, o *operation) {
	from, err := time.Parse(time.DateOnly, query.Get("date_from"))
	if err != nil {
		return
	}
	to, _ := time.Parse(time.DateOnly, query.Get("date_to"))
	most := maxDays
	if o.path == "/api/v1/brands-overview" {
		most = maxOverviewDays
	}
	days := to.Sub(from) / (24 * time.Hour) % time.Duration(most-1)
	query.Set("date_to", dayText(clamp(from.AddDate(0, 0, max(int(days), -int(days))), firstYear, lastYear)))
}
