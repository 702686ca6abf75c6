package crash

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// troubledModels are those of the four platforms that a killed job asks: more of those whose limits are higher.
var troubledModels = map[string][]string{
	"openai":  {"gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6-sol"},
	"xai":     {"grok-4.3", "grok-4.7"},
	"gemini":  {"gemini-3.5-flash"},
	"mistral": {"mistral-medium-latest"},
}

// troubledRuns are the runs of one prompt.
const troubledRuns = 8

// aQuestion is what a platform is asked.
type aQuestion struct{ platform, model, prompt string }

// neverAnswered is the question that always fails.
var neverAnswered = aQuestion{"xai", "grok-4.7", "0"}

// requestCounts are those of one question: all, those that were refused or left without an answer, and those that were
// answered, which cost money.
type requestCounts struct{ all, failed, paid int }

// troubledPlatforms are four platforms that are slow, limit rates, fail and hang, and that count their requests.
type troubledPlatforms struct {
	*httptest.Server
	answers map[string][]byte // by platform
	longest time.Duration     // that an answer takes
	hangs   atomic.Bool       // whether some first requests get no answer

	mu     sync.Mutex
	random *rand.Rand
	counts map[aQuestion]requestCounts
	sum    int
}

func newTroubledPlatforms(t *testing.T, longest time.Duration, seed uint64) *troubledPlatforms {
	t.Helper()
	p := &troubledPlatforms{
		answers: map[string][]byte{}, longest: longest, random: rand.New(rand.NewPCG(seed, 1)),
		counts: map[aQuestion]requestCounts{},
	}
	tokens := regexp.MustCompile(`([tT]okens|TokenCount)": \d+`)
	for slug := range troubledModels {
		text, err := os.ReadFile("../../../ingest/platform/catalog/testdata/" + slug + "/plain.txtar")
		if err != nil {
			t.Fatal(err)
		}
		_, answer, _ := bytes.Cut(text, []byte("-- response --\n"))
		answer, _, _ = bytes.Cut(answer, []byte("\n-- "))
		// else their limits bind, which are of tokens, too
		p.answers[slug] = tokens.ReplaceAll(answer, []byte(`$1": 10`))
	}
	p.hangs.Store(true)
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// settings are those by which the platforms are asked, each below a path of its own.
func (p *troubledPlatforms) settings() (env []string) {
	for slug := range troubledModels {
		name := "ANSWERSCOPE_PLATFORM_" + strings.ToUpper(slug)
		env = append(env, name+"_API_KEY=k", name+"_BASE_URL="+p.URL+"/"+slug)
	}
	return env
}

var (
	modelOfBody = regexp.MustCompile(`"model":\s*"([^"]+)"`)
	modelOfPath = regexp.MustCompile(`models/([^:]+):`)
	roomOfBody  = regexp.MustCompile(`for room (\d+)`)
)

func (p *troubledPlatforms) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	slug, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	model, room := modelOfBody.FindSubmatch(body), roomOfBody.FindSubmatch(body)
	if model == nil {
		model = modelOfPath.FindSubmatch([]byte(r.URL.Path))
	}
	if err != nil || model == nil || room == nil || p.answers[slug] == nil {
		http.Error(w, fmt.Sprintf("%s asks %.500s, %v", r.URL.Path, body, err), http.StatusBadRequest)
		return
	}
	q := aQuestion{slug, string(model[1]), string(room[1])}
	status, takes := p.decide(q)
	if status == 0 {
		p.count(q, requestCounts{failed: 1})
		<-r.Context().Done()
		return
	}
	select {
	case <-r.Context().Done():
		return
	case <-time.After(takes):
	}
	if status != http.StatusOK {
		p.count(q, requestCounts{failed: 1})
		w.Header().Set("Retry-After", "2")
		http.Error(w, `{"error":{"message":"in trouble"}}`, status)
		return
	}
	p.count(q, requestCounts{paid: 1})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(p.answers[slug])
}

// decide counts a request and says how it ends, with a status or not at all (0), and after how long.
func (p *troubledPlatforms) decide(q aQuestion) (status int, takes time.Duration) {
	p.count(q, requestCounts{all: 1})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum++
	of := p.counts[q]
	takes = time.Duration(p.random.Int64N(int64(p.longest)))
	switch n := p.random.IntN(100); {
	case q == neverAnswered:
		return http.StatusServiceUnavailable, takes
	case of.failed > 2: // so that none of the others fails too often
	case n < 5:
		return http.StatusTooManyRequests, takes
	case n < 10:
		return http.StatusServiceUnavailable, takes
	case n < 12 && of.all == 1 && p.hangs.Load():
		return 0, 0
	}
	return http.StatusOK, takes
}

func (p *troubledPlatforms) count(q aQuestion, more requestCounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.counts[q]
	p.counts[q] = requestCounts{of.all + more.all, of.failed + more.failed, of.paid + more.paid}
}

// requests is how many there were.
func (p *troubledPlatforms) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum
}

// of are the requests of a question.
func (p *troubledPlatforms) of(q aQuestion) requestCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[q]
}
