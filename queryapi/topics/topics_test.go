package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/internal/testkit/cputime"
	"github.com/answerscope/answerscope/sql/postgres"
)

// labelled reads the prompts of testdata, with the topics that a person gives them.
func labelled(t *testing.T) (texts []string, label map[string]string) {
	t.Helper()
	file, err := os.ReadFile("testdata/prompts.txt")
	if err != nil {
		t.Fatal(err)
	}
	label = map[string]string{}
	topic := ""
	for line := range strings.Lines(string(file)) {
		text, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case !indented:
			topic = text
		default:
			texts = append(texts, text)
			label[text] = topic
		}
	}
	return texts, label
}

// measure counts pairs of prompts. Precision is the share of pairs proposed into one topic that a person puts into one,
// coverage the share of a person's pairs that are proposed into one.
func measure(t *testing.T, texts []string, label, proposals map[string]string) (precision, coverage float64) {
	t.Helper()
	proposed, right, all := 0, 0, 0
	for i, a := range texts {
		for _, b := range texts[:i] {
			together, alike := proposals[a] != "" && proposals[a] == proposals[b], label[a] == label[b]
			switch {
			case together && alike:
				right++
				proposed++
				all++
			case together:
				proposed++
				t.Logf("%q is put together with %q, as %s", a, b, proposals[a])
			case alike:
				all++
			}
		}
	}
	t.Logf("%d prompts, %d with a topic; of %d pairs %d are right, of %d possible ones", len(texts), len(proposals),
		proposed, right, all)
	return float64(right) / float64(proposed), float64(right) / float64(all)
}

// The prompts are proposed topics all at once, as they are pasted; with every second one having its topic already; and
// one after the other, as prompt add --propose-topic does.
func TestProposalsMatchLabels(t *testing.T) {
	t.Parallel()
	texts, label := labelled(t)
	if len(texts) < 60 {
		t.Fatalf("only %d prompts", len(texts))
	}
	half, single := Brand{}, Brand{}
	var rest []string
	for i, text := range texts {
		if i%2 == 0 {
			half.add(text, label[text])
		} else {
			rest = append(rest, text)
		}
		single.add(text, single.propose(t, text)[text])
	}
	oneByOne := map[string]string{}
	for _, p := range single.Prompts {
		oneByOne[p.Text] = p.Topic
	}
	for name, test := range map[string]struct {
		proposals map[string]string
		coverage  float64
	}{
		"at once":         {Brand{}.propose(t, texts...), 0.75},
		"half have topic": {half.propose(t, rest...), 0.8},
		"one by one":      {oneByOne, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			precision, coverage := measure(t, texts, label, test.proposals)
			if t.Logf("precision %.3f, coverage %.3f", precision, coverage); precision < 0.95 ||
				coverage < test.coverage {
				t.Errorf("want a precision of 0.95, a coverage of %.2f", test.coverage)
			}
		})
	}
}

// add adds a prompt with its topic.
func (b *Brand) add(text, topic string) {
	b.Prompts = append(b.Prompts, postgres.TrackedPrompt{Text: text, Topic: topic})
	if topic != "" {
		b.Topics = append(b.Topics, topic) // a second time changes nothing
	}
}

func TestPropose(t *testing.T) {
	t.Parallel()
	standing := strings.Split("standing desk for tall people|standing desk for tall users|standing desk cable "+
		"management|cable management of a standing desk|"+
		"standing desk with drawers|standing desk converters|standing desk mats|best standing desk|top standing "+
		"desks|which standing desk?", "|")
	for name, test := range map[string]struct {
		brand Brand
		texts []string
		want  map[string]string
	}{
		"nothing": {},
		"an existing topic comes first, by its name": {
			Brand{Topics: []string{"Anvils"}}, []string{
				"Which anvil should I buy?", "best anvil", "best anvil for a small forge",
			},
			map[string]string{
				"Which anvil should I buy?": "Anvils", "best anvil": "Anvils", "best anvil for a small forge": "Anvils",
			},
		},
		"and by its prompts": {
			brandOf("Which air fryer for a family?", "Kitchen"), []string{"best air fryer"},
			map[string]string{"Which air fryer for a family?": "Kitchen", "best air fryer": "Kitchen"},
		},
		"a text that has a topic keeps it": {
			brandOf("best air fryer", "Kitchen"), []string{"best air fryer"},
			map[string]string{"best air fryer": "Kitchen"},
		},
		"names of the brand and of competitors do not count": {
			Brand{Names: []string{"Lumen", "Hyper Glow", "Zürich Lampen"}},
			[]string{
				"is Lumen good?", "is LUMEN worth it?", "Lumen vs Hyper Glow", "Hyper Glow desk lamp",
				"Lumen desk lamps", "Zurich Lampen",
			},
			map[string]string{"Hyper Glow desk lamp": "desk lamp", "Lumen desk lamps": "desk lamp"},
		},
		"nor do words of most prompts, but where there are no others": {
			Brand{}, standing, map[string]string{
				standing[0]: "tall people", standing[1]: "tall users", standing[2]: "cable management",
				standing[3]: "cable management",
				standing[7]: "standing desk", standing[8]: "standing desk", standing[9]: "standing desk",
			},
		},
		"a price makes no difference, what is asked for does": {
			Brand{}, []string{
				"best TV under 500", "best TV under $900", "TV stand", "how safe are cribs?", "how safe are dryers?",
			},
			map[string]string{"best TV under 500": "TV", "best TV under $900": "TV", "TV stand": "TV stand"},
		},
		"a short text joins longer ones": {
			Brand{Names: []string{"Lumen"}}, []string{
				"best desk lamp", "lamp for reading", "is Lumen good?", "lamp that dims", "cheap lamp",
			},
			map[string]string{
				"best desk lamp": "desk lamp", "lamp for reading": "lamp", "lamp that dims": "lamp",
				"cheap lamp": "lamp",
			},
		},
		"an inactive topic is proposed no more": {
			Brand{Prompts: []postgres.TrackedPrompt{{Text: "best air fryer", Topic: "Kitchen"}}},
			[]string{"Which air fryer?"},
			map[string]string{"Which air fryer?": "air fryer"},
		},
		"nor a sentence without spaces": {
			Brand{}, []string{
				"空气炸锅", "哪款空气炸锅最适合家庭使用?", "เครื่องทอดไร้น้ำมันยี่ห้อไหนดีที่สุด",
				"Höhenverstellbarer Schreibtisch", "constructor",
			},
			map[string]string{
				"Höhenverstellbarer Schreibtisch": "Höhenverstellbarer Schreibtisch", "constructor": "constructor",
			},
		},
		"a name is as it is written": {
			Brand{}, []string{"Quelle machine  à café ?", "machines à cafe", "best carry-on luggage", "women's shoes"},
			map[string]string{
				"Quelle machine  à café ?": "machine à café", "machines à cafe": "machine à café",
				"best carry-on luggage": "carry-on luggage", "women's shoes": "women's shoes",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.brand.propose(t, test.texts...)
			for _, topic := range test.brand.Topics {
				delete(got, topic)
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("proposed %q\nwant %q", got, test.want)
			}
		})
	}
}

func brandOf(text, topic string) (b Brand) {
	b.add(text, topic)
	return b
}

// Whatever the texts are, a proposal is a name that the database takes, and the same each time.
func TestProposalsAreNames(t *testing.T) {
	t.Parallel()
	texts := rapid.SliceOfN(rapid.OneOf(rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("ab \t\n'-.,加ーのé\u0301\u202e\x00")))), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		drawn, names := texts.Draw(t, "texts"), texts.Draw(t, "names")
		b := Brand{Names: names}
		got := b.propose(t, drawn...)
		for text, topic := range got {
			if !postgres.IsName(topic) {
				t.Fatalf("%q is proposed the topic %q", text, topic)
			}
		}
		if again := b.propose(t, drawn...); !maps.Equal(got, again) {
			t.Fatalf("proposed %q, then %q", got, again)
		}
	})
}

// propose proposes topics without a deadline.
func (b Brand) propose(t interface {
	Helper()
	Fatal(...any)
}, texts ...string) map[string]string {
	t.Helper()
	proposals, err := b.Propose(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return proposals
}

func TestProposalsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if proposals, err := (Brand{}).Propose(ctx, []string{"best carry-on luggage"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", proposals, err)
	}
}

// 1,000 texts of the most words that are compared, beside 1,000 prompts, are proposed topics in a second of processor
// time or so; the log has it. Without a bound of their words they took over 10 seconds. Beside them are 8,000 prompts
// without a topic, each of which was once compared with every other one: minutes.
func TestProposalsAreQuick(t *testing.T) {
	t.Parallel()
	var b Brand
	var texts []string
	for i := range 1000 {
		kind := fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26%26)
		b.add(fmt.Sprintf("Which %s lamp number %d is best for a %s room in winter?", kind+"x", i, kind+"y"), kind)
		text := "best " + kind + "x lamp for"
		for n := range 200 {
			text += fmt.Sprintf(" %c%c%d", 'a'+i%26, 'a'+i/26%26, n) // words of this text alone
		}
		texts = append(texts, text)
	}
	for i := range 8000 {
		b.add(fmt.Sprintf("Is a%d better than b%d for lamps in a c%d room?", i%400, i%300, i%2000), "")
	}
	var proposals map[string]string
	took := cputime.Of(t, func() { proposals = b.propose(t, texts...) })
	if t.Log(took); took > 10*time.Second || len(proposals) == 0 {
		t.Errorf("%d proposals took %s", len(proposals), took)
	}
}
