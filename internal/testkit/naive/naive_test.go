package naive

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/gofrs/uuid/v5"
)

func TestMentionsAsDefined(t *testing.T) {
	apple := event.Entity{Name: "Apple", Aliases: []string{"Apple Watch"}, Domains: []string{"apple.com"}}
	cases := []struct {
		text  string
		who   event.Entity
		count int
	}{
		{"Apple's, use.Apple and _Apple_", apple, 3},
		{"Apples Apple2 2Apple pineapple", apple, 0},
		{"Apple은 좋다. Appleは、Appleの", apple, 3},
		{"Apple Watch and apple.com", apple, 2}, // no character counts twice
		{"see https://apple.com/watch and [Apple](https://apple.com/ \"Apple\") and ![x](<a Apple>)", apple, 1},
		{"[HP]() and [a](b(HP)c)", event.Entity{Name: "HP"}, 1},
		{"```go\nApple\n```\nApple\n~~~~\nApple\n~~~\nApple", apple, 1},
		{"```Apple``` stays", apple, 1},
		{"text\n[1]: https://x.example \"Apple\"\nApple", apple, 1},
		{"DE’LONGHI De'Longhi", event.Entity{Name: "De‘Longhi"}, 2},
		{"Hewlett‑Packard", event.Entity{Name: "hewlett-packard"}, 1},
		{"CRÈME brûlée Creme", event.Entity{Name: "crème"}, 2},
		{"Apple™ Apple² Apple①", apple, 3},
		{"STRASSE", event.Entity{Name: "Straße"}, 1},
		{"Øre Ore", event.Entity{Name: "ore"}, 1},
		{"ソニーの製品", event.Entity{Name: "ソニー"}, 1},
		{"Samsung Galaxy, **Samsung** Galaxy, Samsung, Galaxy. Samsung\nGalaxy; Samsung-Galaxy, Samsung Samsung",
			event.Entity{Name: "Samsung", Aliases: []string{"Galaxy"}}, 9},
		{"Samsung Galaxy Samsung Galaxy", event.Entity{Name: "Samsung", Aliases: []string{"Galaxy"}}, 2},
		{"De'Longhi, De Longhi, De-Longhi, De. Longhi, DeLonghi", event.Entity{Name: "De’Longhi"}, 3},
		{"La Roche-Posay, La Roche Posay, La Roche Sur Posay", event.Entity{Name: "La Roche-Posay"}, 2},
		{"J.Crew, J. Crew, J Crew, JCrew", event.Entity{Name: "J.Crew"}, 3},
		{"Dr Pepper, Dr. Pepper, Doc. Pepper", event.Entity{Name: "Dr Pepper"}, 2},
		{"Wendy’s, Wendy S., Wendy-S", event.Entity{Name: "Wendy's"}, 1},
		{"A ninja, the Ninja, NINJA\nninja! See ninja.example, @ninja", event.Entity{Name: "Ninja"}, 5},
		{"I like ninja.", event.Entity{Name: "ninja"}, 1},
		{"A breville in Berlin", event.Entity{Name: "Breville"}, 1},
		{"On the la roche posay\na la roche posay.", event.Entity{Name: "La Roche-Posay"}, 1},
		{"سوني وسوني فسوني", event.Entity{Name: "سوني"}, 2},
		{"use .NET or C++!", event.Entity{Name: ".NET", Aliases: []string{"C++"}}, 2},
	}
	for _, c := range cases {
		if got, _ := mentions(passageOf(prose(c.text)), c.who, nil); got != c.count {
			t.Errorf("%q: %s is named %d times, want %d", c.text, c.who.Name, got, c.count)
		}
	}
}

func TestCitationsAsDefined(t *testing.T) {
	cases := map[string]string{
		"HTTPS://www.Example.COM:443/a//?utm_source=x&&B=1&GCLID=2&_ga=3#top": "https://example.com/a?B=1",
		"http://user:pw@münchen.example./":                                    "http://xn--mnchen-3ya.example",
		"https://www.www.example/?":                                           "https://www.example",
		"https://a.example:8443/%7Ex/?q=a%20b&q=":                             "https://a.example:8443/~x?q=a%20b&q=",
		"ftp://a.example/":                                                    "",
		"https:///x":                                                          "",
		"//a.example":                                                         "",
	}
	for raw, want := range cases {
		if got, _ := normalise(raw); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

// Five prompts. Prompt 0 has two answers, of which the first names Brand at position 2 (two mentions, behind Rival),
// cites it once among two URLs, positive: visibility 20 + 15 + round(7.5) + 15 = 58; points 60 + 25 + 7.5 = 92.5. All
// else names none of them. So score = 92.5/6 = 15.4167 → 15.4, position factor = 0.5/6 = 0.0833, average visibility
// 58/6 = 9.667 → 9.7, visible 1 of 5 prompts. R = 15.41667; Σ(y−R·n)² = (92.5−30.83333)² + 4·15.41667² = 3802.778 +
// 950.694 = 4753.472; t(4) = 2.776445; 2.776445·√(5/4·4753.472)/6 = 35.670; so −20.3 and 51.1, clamped to 0 and 51.1.
// The rate is 100/6 = 16.667; Σ(y−R·n)² = (100−33.333)² + 4·16.667² = 5555.556; 2.776445·√(5/4·5555.556)/6 = 38.562:
// −21.9 and 55.2. Rival: one mention first (60 + 15)/6 = 12.5; visibility 10 + 7 = 17, 17/6 = 2.8. Of platform "b" one
// of two runs was given up. Platform "a" had an answer 5 times of 6.
func TestSummaryAndTrendByHand(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) // a Sunday
	brandID, rivalID := uuid.UUID{1}, uuid.UUID{2}
	make := func(prompt, platform, served, text string) event.Answer {
		return event.Answer{
			Brand: event.Brand{Entity: event.Entity{ID: brandID, Name: "Brand",
				Domains: []string{"brand.example"}}},
			Competitors: []event.Entity{{ID: rivalID, Name: "Rival"}},
			Prompt:      event.Prompt{ID: uuid.UUID{15: prompt[0]}, Text: prompt}, Platform: platform,
			ServedModel: served, AnsweredAt: event.At(at), Text: text,
		}
	}
	first := make("0", "a", "m1", "Rival before Brand, Brand.")
	first.Citations = []event.Citation{
		{URL: "https://www.brand.example/", Cited: true}, {URL: "https://x.example", Cited: true},
		{URL: "https://brand.example/y"},
	}
	readings := []Reading{Read(first, "positive")}
	for _, prompt := range []string{"0", "1", "2", "3"} {
		readings = append(readings, Read(make(prompt, "a", "m1", "neither"), "unknown"))
	}
	last := make("4", "b", "m2", "neither")
	last.AnsweredAt = event.At(at.AddDate(0, 0, 1)) // the Monday after
	given := make("4", "b", "", "")
	given.GivenUp = &event.GivenUp{Class: "timeout"}
	shop := make("4", "a-shopping", "", "Brand")
	changed := make("1", "a", "m3", "neither")
	changed.AnsweredAt = event.At(at.AddDate(0, 0, 9))
	unseen := make("4", "a", "", "")
	unseen.AnsweredAt, unseen.Finish = last.AnsweredAt, event.FinishNotShown
	readings = append(readings, Read(unseen, "unknown"), Read(last, "unknown"), Read(given, "unknown"),
		Read(shop, "positive"), Read(changed, "unknown"))

	live := []Live{{ID: rivalID, Name: "Rival"}, {ID: uuid.UUID{3}, Name: "Unnamed"}}
	f := Filter{From: "2026-03-01", To: "2026-03-02"}
	same(t, Summary(readings, f, Live{ID: brandID, Name: "Brand"}, live),
		`{"brand":{"id":"01000000-0000-0000-0000-000000000000","name":"Brand"},
		"window":{"date_from":"2026-03-01","date_to":"2026-03-02"},"totals":{"resultCount":6,"sentiment":{"labelled":1,
		"negativePct":0,"neutralPct":0,"positivePct":100},"avgVisibility":9.7,"totalMentions":2,"totalCitations":1,
		"visiblePrompts":1,"promptCount":5,"visibilityRatePct":20,"aiVisibilityScore":15.4,"mentionAnswers":1,
		"citationAnswers":1,"positionFactor":0.0833,
		"interval":{"low":0,"high":51.1},"mentionRatePct":16.7,"mentionRateInterval":{"low":0,"high":55.2},
		"notShown":1,"shownRatePct":83.3,"shownRateInterval":{"low":43.6,"high":97}},"topCompetitors":[{"name":"Rival",
		"mentions":1,"avgVisibility":2.8,"score":12.5}],"degraded_platforms":["b"]}`)
	f.To = "2026-03-31"
	same(t, Trend(readings, f, "day", live), `{"granularity":"day","buckets":[
		{"date":"2026-03-01","result_count":5,"ai_visibility_score":18.5,"avg_visibility_score":11.6,"total_mentions":2,
			"total_citations":1,"avg_competitor_score":17,"interval":{"reason":"too_few_prompts"},"mention_rate_pct":20,
			"mention_rate_interval":{"reason":"too_few_prompts"},"model_changed":false,"model_changes":[],
			"given_up_runs":1,"not_shown":0,"degraded_platforms":["b"]},
		{"date":"2026-03-02","result_count":1,"ai_visibility_score":0,"avg_visibility_score":0,"total_mentions":0,
			"total_citations":0,"avg_competitor_score":null,"interval":{"reason":"too_few_prompts"},
			"mention_rate_pct":0,"mention_rate_interval":{"reason":"too_few_prompts"},"model_changed":false,
			"model_changes":[],"given_up_runs":0,"not_shown":1,"degraded_platforms":[]},
		{"date":"2026-03-10","result_count":1,"ai_visibility_score":0,"avg_visibility_score":0,"total_mentions":0,
			"total_citations":0,"avg_competitor_score":null,"interval":{"reason":"too_few_prompts"},
			"mention_rate_pct":0,"mention_rate_interval":{"reason":"too_few_prompts"},"model_changed":true,
			"model_changes":[{"platform":"a","model":"","before":["m1"],"now":["m3"]}],"given_up_runs":0,"not_shown":0,
			"degraded_platforms":[]}],"unanswered":[]}`)
	same(t, Trend(readings, Filter{From: "2026-03-01", To: "2026-03-02"}, "week", live),
		`{"granularity":"week","buckets":[
		{"date":"2026-02-23","result_count":5,"ai_visibility_score":null,"avg_visibility_score":11.6,"total_mentions":2,
			"total_citations":1,"avg_competitor_score":17,"interval":{"reason":"too_few_prompts"},"mention_rate_pct":20,
			"mention_rate_interval":{"reason":"too_few_prompts"},"model_changed":false,"model_changes":[],
			"given_up_runs":1,"not_shown":0,"degraded_platforms":["b"]},
		{"date":"2026-03-02","result_count":1,"ai_visibility_score":null,"avg_visibility_score":0,"total_mentions":0,
			"total_citations":0,"avg_competitor_score":null,"interval":{"reason":"too_few_prompts"},
			"mention_rate_pct":0,"mention_rate_interval":{"reason":"too_few_prompts"},"model_changed":false,
			"model_changes":[],"given_up_runs":0,"not_shown":1,"degraded_platforms":[]}],"unanswered":[]}`)
	same(t, Summary(readings, Filter{From: "2025-01-01", To: "2025-01-02"},
		Live{ID: brandID, Name: "Brand"}, live)["totals"],
		`{"resultCount":0,"sentiment":{"labelled":0,"negativePct":null,"neutralPct":null,"positivePct":null},
		"avgVisibility":null,
		"totalMentions":0,"totalCitations":0,"visiblePrompts":0,"promptCount":0,"visibilityRatePct":null,
		"aiVisibilityScore":null,"mentionAnswers":0,
		"citationAnswers":0,"positionFactor":null,"interval":null,"mentionRatePct":null,"mentionRateInterval":null,
		"notShown":0,"shownRatePct":null,"shownRateInterval":null}`)
}

// same compares bodies as JSON.
func same(t *testing.T, got any, want string) {
	t.Helper()
	written, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(written, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatalf("not JSON: %s", want)
	}
	again, _ := json.Marshal(a)
	wanted, _ := json.Marshal(b)
	if string(again) != string(wanted) {
		t.Errorf("got  %s\nwant %s", again, wanted)
	}
}
