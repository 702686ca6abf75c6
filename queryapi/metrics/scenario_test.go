package metrics

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/sink"
)

var update = flag.Bool("update", false, "rewrite the wanted responses in testdata")

// A scenario is one txtar file. Its comment says in words and arithmetic why the numbers are right; its sections are
// played in order on a stage of its own:
//
//	brands.ndjson     brands that come to be, with their competitors
//	answers.ndjson    answers that come in, through the log's codec, the extractor and the sink
//	corrected.ndjson  other readings of answers that came in, each naming its answer
//	visits.ndjson     visits that come in, through the codec and the sink
//	crawls.ndjson     crawls that come in, as visits do
//	expired           the month, as 2020-01, up to which answers are deleted by retention: older than any other test's
//	edited.ndjson     what people do to brands, competitors, prompts and topics
//	GET <target>      a request, asked with acme's key or "as <organization>", and the whole response
//
// $name stands for the id of a brand (its slug), a prompt (its text) or topic (its name) of the first brand, an
// organization or a user, $Glow-of-lumen for that of a competitor, and so for prompts and topics of other brands.
// $answer-2 is the id of the second answer, and $card-2-1 that of its first card. $next is the last cursor.
func TestScenarios(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, scenario := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			s.stage(t).play(t, scenario)
			if *update {
				if err := os.WriteFile(scenarioPath(name), txtar.Format(scenario), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// onShards are scenarios that between them read each kind of table: sums and rows of answers that are corrected and
// whose names are edited, citations, cards, visits and crawls.
var onShards = strings.Fields(
	"ai_pages ai_traffic citations_corrected prompt_performance_edited shopping_cards_corrected two_organizations")

// The same where half of the facts land on another shard: no figure shows how many shards there are.
func TestScenariosOnTwoShards(t *testing.T) {
	t.Parallel()
	if *update {
		return // the responses of one server are rewritten
	}
	s := newServiceOn(t, openShards(t))
	all := scenarios(t)
	for _, name := range onShards {
		if all[name] == nil {
			t.Errorf("no scenario %s", name)
		}
	}
	for name, scenario := range all {
		if testkit.All || slices.Contains(onShards, name) {
			t.Run(name, func(t *testing.T) { s.stage(t).play(t, scenario) })
		}
	}
}

// scenarios are those of testdata, by name.
func scenarios(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob(scenarioPath("*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no scenarios", err)
	}
	all := map[string]*txtar.Archive{}
	for _, path := range paths {
		if all[strings.TrimSuffix(filepath.Base(path), ".txtar")], err = txtar.ParseFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func scenarioPath(name string) string { return "testdata/" + name + ".txtar" }

func (s *stage) play(t *testing.T, scenario *txtar.Archive) {
	t.Helper()
	for i, section := range scenario.Files {
		switch section.Name {
		case "brands.ndjson":
			for _, f := range lines[brandFact](t, section.Data) {
				s.addBrand(t, f)
			}
		case "answers.ndjson":
			for some := range s.shares(lines[answerFact](t, section.Data)) {
				s.addFacts(t, some...)
			}
		case "visits.ndjson":
			s.land(t, s.visitSink(t, sink.CachedVisitIDs), s.visits(t, lines[visitFact](t, section.Data)...))
		case "crawls.ndjson":
			s.landCrawls(t, s.crawls(t, lines[crawlFact](t, section.Data)...))
		case "corrected.ndjson":
			s.correct(t, lines[answerFact](t, section.Data)...)
		case "expired":
			s.expireAnswers(t, strings.TrimSpace(string(section.Data)))
		case "edited.ndjson":
			for _, e := range lines[edit](t, section.Data) {
				s.edit(t, e)
			}
			s.awaitMirror(t)
		default:
			got := s.response(t, section.Name)
			if *update {
				scenario.Files[i].Data = got
			} else if !bytes.Equal(got, section.Data) {
				t.Errorf("%s\ngot:\n%swant:\n%s", section.Name, got, section.Data)
			}
		}
	}
}

// shares are facts in as many batches as there are shards.
func (s *stage) shares(facts []answerFact) iter.Seq[[]answerFact] {
	shards := s.warehouse.Shards()
	return slices.Chunk(facts, max(1, (len(facts)+shards-1)/shards))
}

// response is the status and the body of a request, laid out so that a difference can be read.
func (s *stage) response(t *testing.T, request string) []byte {
	t.Helper()
	target, ok := strings.CutPrefix(request, "GET ")
	if !ok {
		t.Fatalf("%q is neither facts nor a request", request)
	}
	target, organization, ok := strings.Cut(target, " as ")
	if !ok {
		organization = "acme"
	}
	status, body := s.get(t, organization, s.withIDs(target))
	s.keepCursor(t, body)
	var laidOut bytes.Buffer
	if err := json.Indent(&laidOut, []byte(s.withNames(body)), "", "  "); err != nil {
		t.Fatalf("%s: %v in %s", request, err, body)
	}
	return fmt.Appendf(nil, "%d\n%s\n", status, laidOut.Bytes())
}
