package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestMain(m *testing.M) { platformtest.Main(m) }

// reader reads a provider's payload of a surface as a client does, without the price of the list.
func reader(t testing.TB, slug, name string) func(payload []byte) (platform.Reply, error) {
	t.Helper()
	client, err := Open(slug, []Account{{Provider: name, Key: "user:" + platformtest.Key}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.request(name, platform.Question{Text: "Best tent? ", Region: "us", Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	return func(payload []byte) (platform.Reply, error) {
		reply, err := r.reply(payload, 1)
		if err == nil && reply.Usage.CostUSD == r.cost(1) && name != "cloro" {
			reply.Usage.CostUSD = ""
		}
		return reply, err
	}
}

// overviews are the fields that are missing or null where no overview was shown.
var overviews = []string{"ai_overview", "results.content.results.ai_overviews", "response.aioverview"}

// unseen are the fields that say which pages are cited, and which cards are the same. Some answers have none.
var unseen = []string{
	"citations.cited", "text_blocks.reference_indexes", "text_blocks.list.reference_indexes",
	"ai_overview.text_blocks.reference_indexes",
	"ai_overview.text_blocks.list.reference_indexes", "response.inlineProducts.id",
	"response.shoppingCards.products.id",
}

// Every reader reads the cases of its surface, and loses no part of an answer to a change of its shape unnoticed.
func TestReadersConform(t *testing.T) {
	for _, s := range surfaces {
		for _, o := range s.offers {
			name := o.provider + "/" + s.slug
			t.Run(name, func(t *testing.T) {
				read := reader(t, s.slug, o.provider)
				platformtest.Suite{
					Description: platform.Description{Slug: name}, Read: read, Optional: overviews, Unseen: unseen,
				}.Run(t)
			})
		}
	}
}

// In every reader what a page adds to a text is removed, and a page in place of a text or a payload is no answer.
func TestPagesAreNoAnswers(t *testing.T) {
	const added = "\n\nAI responses may include mistakes. Learn more\n\nThank you\n\nYour feedback helps Google " +
		"improve. See our Privacy Policy."
	for _, s := range surfaces {
		for _, o := range s.offers {
			name, read := o.provider+"/"+s.slug, reader(t, s.slug, o.provider)
			for _, payload := range []string{
				"<!doctype html><html></html>", "", "null", "{}", "[]", "[null]", `"text"`,
			} {
				if _, err := read([]byte(payload)); !strings.HasPrefix(fmt.Sprint(err), string(platform.ChangedShape)) {
					t.Errorf("%s, %s: %v", name, payload, err)
				}
			}
			places, refused := 0, 0
			for _, c := range platformtest.Cases(t, name) {
				if c.Want.Text == "" {
					continue
				}
				var payload any
				if err := json.Unmarshal(c.Response, &payload); err != nil {
					t.Fatal(err)
				}
				eachText(payload, func(text string, set func(string)) {
					if text = strings.TrimSpace(text); text == "" ||
						!strings.HasSuffix(c.Want.Text, text) && !strings.HasPrefix(text, c.Want.Text) {
						return
					}
					set(text + added)
					changed, err := json.Marshal(payload)
					if err != nil {
						t.Fatal(err)
					}
					if reply, err := read(changed); err != nil || reply.Text != c.Want.Text {
						t.Errorf("%s/%s: %q, %v", name, c.Name, reply.Text, err)
					}
					places++
					set("<html><body>" + text)
					changed, err = json.Marshal(payload)
					if err != nil {
						t.Fatal(err)
					}
					switch reply, err := read(changed); {
					case strings.HasPrefix(fmt.Sprint(err), string(platform.ChangedShape)):
						refused++
					case err != nil || reply.Text != c.Want.Text && strings.HasPrefix(reply.Text, "<html>"):
						t.Errorf("%s/%s, a page: %q, %v", name, c.Name, reply.Text, err)
					}
					set(text)
				})
			}
			if places == 0 || refused == 0 {
				t.Errorf("%s: %d texts were changed, and %d pages refused", name, places, refused)
			}
		}
	}
}

// eachText calls f with every text of a JSON value, and with a function that replaces it.
func eachText(value any, f func(text string, set func(string))) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if text, ok := inner.(string); ok {
				f(text, func(text string) { value[name] = text })
			}
			eachText(inner, f)
		}
	case []any:
		for _, inner := range value {
			eachText(inner, f)
		}
	}
}

// At every provider a short answer about signing in is a page to sign in, unless it has a source or a card.
func TestPageToSignIn(t *testing.T) {
	const text = `"Sign up or log in to go on. Continue with Google"`
	const wall = "unavailable: the answer is a page to sign in"
	for _, c := range []struct{ provider, surface, payload, want string }{
		{"brightdata", "gemini-web", `[{"answer_text":` + text + `}]`, wall},
		{"brightdata", "gemini-web", `[{"answer_text":` + text + `,"citations":["https://a.example/"]}]`, ""},
		{"brightdata", "gemini-web",
			`[{"answer_text":` + text[:len(text)-1] + strings.Repeat(" It rains.", 60) + `"}]`, ""},
		{"brightdata", "gemini-web", `[{"answer_text":"They design in two colours."}]`, ""},
		{"cloro", "gemini-web", `{"response":{"text":` + text + `}}`, wall},
		{"cloro", "chatgpt-shopping",
			`{"response":{"text":` + text + `,"inlineProducts":[{"title":"Two"}]}}`, ""},
		{"dataforseo", "gemini-web",
			`{"tasks":[{"status_code":20000,"result":[{"markdown":` + text + `}]}]}`, wall},
		{"oxylabs", "gemini-web", `{"results":[{"content":{"response_text":` + text + `}}]}`, wall},
		{"serpapi", "bing-copilot",
			`{"search_metadata":{"status":"Success"},"text_blocks":[{"type":"heading","snippet":` + text + `}]}`,
			wall},
	} {
		_, err := reader(t, c.surface, c.provider)([]byte(c.payload))
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: %v", c.payload, err)
		}
	}
}

// Lists within lists make a text in proportion to the payload. 10,000 had one of 100 MB.
func TestDeepLists(t *testing.T) {
	const depth = 3000
	list := strings.Repeat(`[{"snippet":"a","list":`, depth) + `[]` + strings.Repeat(`}]`, depth)
	reply, err := reader(t, "bing-copilot",
		"serpapi")([]byte(`{"search_metadata":{"status":"Success"},"text_blocks":[{"type":"list","list":` + list +
		`}]}`))
	if err != nil || strings.Count(reply.Text, "a") != depth || len(reply.Text) > depth*40 {
		t.Errorf("%d bytes, %v", len(reply.Text), err)
	}
}

// Any payload gives an answer that conforms, or an error with a class. A failure costs more than nothing, or "".
func FuzzReaders(f *testing.F) {
	var names [][2]string
	for _, s := range surfaces {
		for _, o := range s.offers {
			for _, c := range platformtest.Cases(f, o.provider+"/"+s.slug) {
				f.Add(len(names), c.Response)
			}
			names = append(names, [2]string{s.slug, o.provider})
		}
	}
	f.Fuzz(func(t *testing.T, i int, payload []byte) {
		name := names[max(i, -(i+1))%len(names)]
		got, err := reader(t, name[0], name[1])(payload)
		platformtest.Outcome(t, got, err)
		if e, ok := errors.AsType[*platform.Error](err); ok && e.CostUSD != "" {
			if cost, ok := new(big.Rat).SetString(e.CostUSD); !ok || cost.Sign() <= 0 {
				t.Errorf("it costs %q", e.CostUSD)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}
