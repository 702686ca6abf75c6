package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wrongCalls have results that name what is wrong, and what would be right.
func (w *world) wrongCalls(t *testing.T) {
	session, tracker := w.client(t, "owner"), w.client(t, "tracker")
	ids := strings.NewReplacer("OURS", w.ours.ID.String(), "OTHERS", w.others.ID.String())
	for _, c := range []struct{ tool, arguments, want string }{
		{"visibility", `{}`, `brand is missing, and the key reads 2: list_brands lists them`},
		{"visibility", `[]`, `arguments: want a JSON object`},
		{"visibility", `{"brand":"fernwod"}`, `no brand "fernwod". Nearest: fernwood. list_brands lists all 2.`},
		{"visibility", `{"brand":"zzzzzzzzzzzzzz"}`, `no brand "zzzzzzzzzzzzzz". list_brands lists all 2.`},
		{"visibility", `{"brand":7}`, `brand: want a text, got 7`},
		{"visibility", `{"brand":""}`, `no brand "". list_brands lists all 2.`},
		{"visibility", `{"brand":"lumen","brands":"x"}`,
			`no argument "brands": want some of brand, branded, compare, date_from, date_to, group_by, metric, ` +
				`model, platform, region, topic`},
		{"visibility", `{"brand":"lumen","date_from":"2026-02-30"}`,
			`date_from: want a day of the calendar as YYYY-MM-DD, got "2026-02-30"`},
		{"visibility", `{"brand":"lumen","date_from":"2027-01-02","date_to":"2027-01-01"}`,
			`date_from: want a day up to date_to, 2027-01-01, got 2027-01-02`},
		{"visibility", `{"brand":"lumen","date_from":"2020-01-01","date_to":"2026-01-01"}`,
			`date_from: want at most 731 days up to date_to, both counted: 2024-01-02 or later, got 2193 days`},
		{"visibility", `{"brand":"lumen","date_to":"tomorrow"}`,
			`date_to: want a day of the calendar as YYYY-MM-DD, got "tomorrow"`},
		{"visibility", `{"brand":"lumen","group_by":"prompt"}`,
			`group_by: want one of platform, model, region, topic, got "prompt"`},
		{"visibility", `{"brand":"lumen","compare":"next"}`, `compare: want one of none, previous, got "next"`},
		{"visibility", `{"brand":"fernwood","topic":"tent"}`,
			`no topic "tent". Nearest: tents. list_brands with the brand lists all 2.`},
		{"visibility", `{"brand":"lumen","platform":""}`,
			`platform: want platform slugs separated by commas, got an empty value`},
		{"visibility", `{"brand":"lumen","platform":["openai"]}`, `platform: want a text, got ["openai"]`},
		{"visibility", `{"brand":"lumen","branded":"yes"}`, `branded: want one of true, false, all, got "yes"`},
		{"visibility_trend", `{"brand":"lumen","granularity":"hour"}`,
			`granularity: want one of day, week, month, got "hour"`},
		{"prompts", `{"brand":"lumen","limit":0}`, `limit: want a whole number from 1 to 100, got 0`},
		{"prompts", `{"brand":"lumen","limit":101}`, `limit: want a whole number from 1 to 100, got 101`},
		{"prompts", `{"brand":"lumen","limit":"many"}`, `limit: want a whole number from 1 to 100, got "many"`},
		{"prompts", `{"brand":"lumen","limit":1.5}`, `limit: want a whole number from 1 to 100, got 1.5`},
		{"prompts", `{"brand":"lumen","cursor":"x"}`,
			`cursor: want the next of a page that was asked with the same brand and filters, got "x"`},
		{"prompts", `{"brand":"lumen","sort_by":"visibility"}`,
			`sort_by: want one of rate, change, mentions, citations, appearances, got "visibility"`},
		{"sources", `{"brand":"lumen","mentioned":"maybe"}`, `mentioned: want true or false, got "maybe"`},
		{"answers", `{"brand":"fernwood","competitor":"Altrec"}`,
			`no competitor "Altrec". Nearest: Altrek. compare_competitors lists all 5.`},
		{"answers", `{"brand":"lumen","prompt_id":"x"}`, `prompt_id: want the id of a prompt, a UUID, got "x"`},
		{"answers", `{"id":"x"}`, `id: want the id of an answer that answers lists, a UUID, got "x"`},
		{"answers", `{"id":"OURS"}`, `id: no such answer in your organization; answers lists those of a brand`},
		{"suggestions", `{"brand":"lumen","kind":"ideas"}`,
			`kind: want some of gap, source, competitor, alias, prompt, topic, page, theme, separated by commas, ` +
				`got "ideas"`},
		{"site_traffic", `{"brand":"lumen","model":"gpt","what":"all"}`,
			`no argument "model": want some of brand, date_from, date_to, limit, platform, what; ` +
				`what: want one of visits, crawlers, pages, got "all"`},
		{"shopping", `{"brand":"lumen","role":"mine"}`, `role: want one of own, competitor, other, got "mine"`},
		{"list_brands", `{"brand":"OTHERS"}`, `no brand "OTHERS". list_brands lists all 2.`},
	} {
		arguments := ids.Replace(c.arguments)
		if text, isError := call(t, session, c.tool, arguments); text != ids.Replace(c.want) || !isError {
			t.Errorf("%s %s: %s, want %s", c.tool, arguments, text, c.want)
		}
	}
	for _, c := range []struct{ arguments, want string }{
		{`{}`, `action: want one of estimate, start, status, cancel, got nothing`},
		{`{"action":"stop"}`, `action: want one of estimate, start, status, cancel, got "stop"`},
		{`{"action":"start","platforms":"openai"}`, `platforms: want a list of texts, got "openai"`},
		{`{"action":"start","max_cost_usd":-1}`, `max_cost_usd: want a number from 0, got -1`},
		{`{"action":"start","samples":11}`, `samples: want a whole number from 1 to 10, got 11`},
		{`{"action":"cancel"}`, `job_id: want the job_id that start returned`},
	} {
		if text, isError := call(t, tracker, "track", c.arguments); text != c.want || !isError {
			t.Errorf("track %s: %s, want %s", c.arguments, text, c.want)
		}
	}
}

// emptyResults say which of four reasons they have.
func (w *world) emptyResults(t *testing.T) {
	session := w.client(t, "owner")
	last := w.until.AddDate(0, 0, -1).Format(time.DateOnly)
	for _, c := range []struct{ tool, arguments, want string }{
		{"visibility", `{"brand":"lumen"}`,
			`"empty_because":"no_answers_yet","url":"https://answers.example/brands/lumen?date_from=`},
		{"prompts", `{"brand":"lumen","platform":"openai"}`, `"empty_because":"no_answers_yet","url"`},
		{"visibility_trend", `{"brand":"fernwood","date_from":"2026-01-01","date_to":"2026-01-31"}`,
			`"empty_because":"none_in_window","last_answer":"` + last + `"`},
		{"compare_competitors", `{"brand":"fernwood","platform":"openai"}`,
			`"empty_because":"filters_match_nothing","values":{"platforms":["chatgpt-web","perplexity-web"]`},
		{"sources", `{"brand":"fernwood","region":"xx","by":"url"}`, `"empty_because":"filters_match_nothing"`},
		{"sources", `{"brand":"fernwood","source":"owned","mentioned":false,"platform":"chatgpt-web",` +
			`"date_from":"` + last + `","region":"none"}`, `"empty_because":"filters_match_nothing"`},
		{"answers", `{"brand":"fernwood","domain":"nobody.example"}`, `"empty_because":"no_rows_of_this_kind","url"`},
		{"site_traffic", `{"brand":"lumen"}`, `"empty_because":"no_rows_of_this_kind","url"`},
		{"suggestions", `{"brand":"fernwood"}`, `"empty_because":"no_rows_of_this_kind","url"`},
	} {
		if text, isError := call(t, session, c.tool, c.arguments); isError || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, text, c.want)
		}
	}
	if text, _ := call(t, session, "visibility", `{"brand":"fernwood"}`); strings.Contains(text, "empty_because") {
		t.Errorf("figures are explained as empty: %s", text)
	}
}

// strangers see nothing of ours: a key reads its own organization alone, within its scopes and its user's role.
func (w *world) strangers(t *testing.T) {
	stranger := w.client(t, "stranger")
	_, body := w.get(t, "owner", "/answers", map[string][]string{"brand_id": {w.ours.ID.String()}, "limit": {"1"}})
	answers := body.(map[string]any)["answers"].([]any)
	id := answers[0].(map[string]any)["id"].(string)
	for _, tool := range readTools(t) {
		if tool.Name == "track" {
			continue
		}
		for _, arguments := range []string{
			`{}`, `{"brand":"fernwood"}`, `{"brand":"` + w.ours.ID.String() + `"}`, `{"id":"` + id + `"}`,
			`{"id":"` + id + `","brand":"` + w.ours.ID.String() + `"}`,
		} {
			text, _ := call(t, stranger, tool.Name, arguments)
			for _, trace := range []string{"Altrek", "tents", "lumen", "owner@example.com", `"n":1`, "chatgpt-web"} {
				if strings.Contains(strings.ReplaceAll(text, "Altrek", ""), trace) {
					t.Errorf("%s %s: %s", tool.Name, arguments, text)
				}
			}
		}
	}
	for key, want := range map[string]bool{"tracker": true, "owner": false, "viewer": false} {
		listed, err := w.client(t, key).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, tool := range listed.Tools {
			has = has || tool.Name == "track"
		}
		if has != want {
			t.Errorf("%s has track: %t", key, has)
		}
	}
	for key, status := range map[string]int{"blind": http.StatusForbidden, "nobody": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/mcp",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+w.keys[key])
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != status {
			t.Errorf("%s: %s", key, response.Status)
		}
	}
}

// longResults keep their budget: a page is shorter and has its cursor.
func (w *world) longResults(t *testing.T) {
	session := w.client(t, "owner")
	seen := map[string]bool{}
	cursor := ""
	for range 20 {
		arguments := `{"brand":"fernwood","limit":50` + cursor + `}`
		text, isError := call(t, session, "answers", arguments)
		if isError || len(text) > 40_000 {
			t.Fatalf("%s: %d bytes %s", arguments, len(text), text[:min(len(text), 500)])
		}
		result := decode(t, []byte(text)).(map[string]any)
		for _, row := range result["rows"].([]any) {
			if id := row.([]any)[0].(string); seen[id] {
				t.Errorf("%s comes twice", id)
			} else {
				seen[id] = true
			}
		}
		next, ok := result["next"]
		if !ok {
			break
		}
		literal, err := json.Marshal(next)
		if err != nil {
			t.Fatal(err)
		}
		cursor = `,"cursor":` + string(literal)
	}
	if total := len(seen); total < 300 {
		t.Errorf("%d answers on 20 pages", total)
	}
}
