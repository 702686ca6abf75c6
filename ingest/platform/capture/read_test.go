package capture

import (
	"fmt"
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
	"citations.cited", "text_blocks.reference_indexes", "text_blocks.list.reference_indexes", "ai_overview.text_blocks.reference_indexes",
	"ai_overview.text_blocks.list.reference_indexes", "response.inlineProducts.id", "response.shoppingCards.products.id",
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

// A short answer about signing in is a page to sign in, unless it has a source; one of another provider never is.
func TestPageToSignIn(t *testing.T) {
	const text = `"Sign up or log in to go on. Continue with Google"`
	for _, c := range []struct{ provider, payload, want string }{
		{"brightdata", `[{"answer_text":` + text + `}]`, "unavailable: the answer is a page to sign in"},
		{"brightdata", `[{"answer_text":` + text + `,"citations":["https://a.example/"]}]`, ""},
		{"brightdata", `[{"answer_text":` + text[:len(text)-1] + strings.Repeat(" It rains.", 60) + `"}]`, ""},
		{"brightdata", `[{"answer_text":"They design in two colours."}]`, ""},
		{"cloro", `{"response":{"text":` + text + `}}`, ""},
	} {
		_, err := reader(t, "gemini-web", c.provider)([]byte(c.payload))
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: %v", c.payload, err)
		}
	}
}
