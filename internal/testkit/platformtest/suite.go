package platformtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Suite is the conformance test of a platform that is asked over HTTP: a local server answers what the cases under
// testdata/<slug> say, and fails in every way that a server can.
type Suite struct {
	Description platform.Description
	Open        func(key, baseURL string) (platform.Platform, error)
	Path        string // of its requests, below the base URL
	KeyHeader   string // in which the key is sent
	KeyPrefix   string // before the key
	Request     func(t *testing.T, body map[string]any, region string)

	// Read reads a payload. Where it is set, no server is asked, and only the reader is tested.
	Read func(raw []byte) (platform.Reply, error)

	// Optional and Unseen list fields that the platform may leave out, as paths without the places in lists: an answer in
	// which one is missing or null cannot be distinguished from one that never had it. Nor can one in which a field of
	// Unseen was renamed.
	Optional, Unseen []string

	// Lists names the lists of items that are read, as paths without the places in lists, that of the text first.
	Lists []string

	// Sole lists fields that are the only sign of their item's kind. An item that lacks one is of an unknown kind, which
	// is counted; where all items lack it the answer is of a changed shape.
	Sole []string
}

// Key is the key that the suite asks with. No error may show it.
const Key = "key-hunter2-0123456789"

// Case is a file of testdata: what the server answers, and what is read of it.
type Case struct {
	Name     string
	Response []byte
	Want     Want
}

// Want is what comes of a response.
type Want struct {
	Status int               `json:"status"` // of the response; 0 is 200
	Header map[string]string `json:"header"`

	Class string `json:"class"` // of the error, "" for an answer
	Again int    `json:"again"` // seconds

	Text      string          `json:"text"`
	Cited     [][2]string     `json:"cited"` // url, title
	Consulted [][2]string     `json:"consulted"`
	Queries   []string        `json:"queries"`
	Products  []event.Product `json:"products"`
	Model     string          `json:"served_model"`
	Usage     event.Usage     `json:"usage"`
	Finish    string          `json:"finish"`    // "" is complete
	Supported []string        `json:"supported"` // the text that each citation supports, where the platform says it
	Unknown   []string        `json:"unknown"`   // kinds of items that are passed over
}

// Cases reads testdata/<slug>. {base} of a response is the address of the server.
func Cases(t testing.TB, slug string) []Case {
	t.Helper()
	files, err := filepath.Glob("testdata/" + slug + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", slug, err)
	}
	var cases []Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		for _, section := range txtar.Parse(text).Files {
			switch section.Name {
			case "response":
				c.Response = section.Data
			case "want.json":
				decoder := json.NewDecoder(strings.NewReader(string(section.Data)))
				decoder.DisallowUnknownFields()
				if err := decoder.Decode(&c.Want); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			default:
				t.Fatalf("%s: section %q", file, section.Name)
			}
		}
		cases = append(cases, c)
	}
	return cases
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Parallel()
	cases := Cases(t, s.Description.Slug)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { s.read(t, c) })
		if c.Want.Class == "" {
			t.Run(c.Name+" with unknown fields", func(t *testing.T) { s.unknown(t, c) })
			t.Run(c.Name+" cut", func(t *testing.T) { s.cut(t, c) })
			if c.Want.Finish != string(event.FinishNotShown) {
				t.Run(c.Name+" with a field changed", func(t *testing.T) { s.mutants(t, c) })
			}
			if len(s.Lists) > 0 {
				t.Run(c.Name+" with unknown items", func(t *testing.T) { s.unknownItems(t, c) })
			}
		}
	}
	if s.Read != nil {
		return
	}
	t.Run("request", s.request)
	t.Run("failures", s.failures)
	t.Run("description", s.description)
}

// server answers with what is set, and keeps the requests.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	requests []*http.Request
	bodies   [][]byte
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target, ok := strings.CutPrefix(r.URL.Path, "/grounding-api-redirect/"); ok {
			redirect(w, r, target)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		s.mu.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// redirect answers as Google does for a source: one of unknown is gone.
func redirect(w http.ResponseWriter, r *http.Request, target string) {
	if target == "unknown" {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "https://pages.example/"+target, http.StatusFound) //nolint:gosec // a test's server, whose redirect is not followed
}

// serve sets what is answered, and forgets earlier requests.
func (s *server) serve(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.requests, s.bodies = answer, nil, nil
}

func (s *server) asked() (requests []*http.Request, bodies [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.bodies
}

// json answers with a body and a status, as a case says.
func (s *server) json(body []byte, want Want) {
	s.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range want.Header {
			w.Header().Set(name, value)
		}
		if want.Status != 0 {
			w.WriteHeader(want.Status)
		}
		_, _ = w.Write([]byte(strings.ReplaceAll(string(body), "{base}", s.URL))) // the client may be gone
	})
}

// ask asks once.
func (s Suite) ask(t *testing.T, ctx context.Context, baseURL string) (platform.Reply, *platform.Error) { //nolint:revive // a test's helper takes t first
	t.Helper()
	p, err := s.Open(Key, baseURL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Ask(ctx, platform.Question{Text: "best tent?", Sample: 1})
	return checked(t, got, err)
}

// answer asks for a payload, or reads it.
func (s Suite) answer(t *testing.T, srv *server, payload []byte, want Want) (platform.Reply, *platform.Error) {
	t.Helper()
	if s.Read != nil {
		got, err := s.Read(payload)
		return checked(t, got, err)
	}
	srv.json(payload, want)
	return s.ask(t, t.Context(), srv.URL)
}

// checked checks what holds of every answer and every error.
func checked(t *testing.T, got platform.Reply, err error) (platform.Reply, *platform.Error) {
	t.Helper()
	if err == nil {
		reply(t, got)
		return got, nil
	}
	e, ok := errors.AsType[*platform.Error](err)
	if !ok {
		t.Fatalf("error %v: want a *platform.Error", err)
	}
	failure(t, err)
	if strings.Contains(err.Error(), Key) {
		t.Errorf("the error shows the key: %v", err)
	}
	if !reflect.DeepEqual(got, platform.Reply{}) {
		t.Errorf("beside the error %v a reply: %+v", err, got)
	}
	return got, e
}

// read checks what is read of a case.
func (s Suite) read(t *testing.T, c Case) {
	srv := newServer(t)
	got, e := s.answer(t, srv, c.Response, c.Want)
	if requests, _ := srv.asked(); s.Read == nil && len(requests) != 1 {
		t.Errorf("%d requests, want one", len(requests))
	}
	if c.Want.Class != "" {
		if e == nil || string(e.Class) != c.Want.Class || int(e.RetryAfter.Seconds()) != c.Want.Again {
			t.Errorf("error %v, want %s again after %d s; answered %q", e, c.Want.Class, c.Want.Again, got.Text)
		}
		return
	}
	if e != nil {
		t.Fatal(e)
	}
	if string(got.Raw) != strings.ReplaceAll(string(c.Response), "{base}", srv.URL) {
		t.Error("the raw payload is not as it was received")
	}
	var want Want
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(encoded(t, c.Want)), "{base}", srv.URL)), &want); err != nil {
		t.Fatal(err)
	}
	want.Status, want.Header = 0, nil
	if text := wanted(got); !reflect.DeepEqual(text, want) {
		t.Errorf("read\n%s\nwant\n%s", pretty(text), pretty(want))
	}
}

// wanted is a reply in the form of a case.
func wanted(r platform.Reply) Want {
	w := Want{Text: r.Text, Queries: r.SearchQueries, Products: r.Products, Model: r.ServedModel, Unknown: r.Unknown}
	if r.Usage != nil {
		w.Usage = *r.Usage
	}
	if r.Finish != event.FinishComplete {
		w.Finish = string(r.Finish)
	}
	for _, c := range r.Citations {
		if c.End > 0 {
			w.Supported = append(w.Supported, r.Text[c.Start:c.End])
		}
		if c.Cited {
			w.Cited = append(w.Cited, [2]string{c.URL, c.Title})
		} else {
			w.Consulted = append(w.Consulted, [2]string{c.URL, c.Title})
		}
	}
	return w
}

func pretty(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}
