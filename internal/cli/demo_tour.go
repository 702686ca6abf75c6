package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// demoFigures are what the tour shows of the API's bodies.
type demoFigures struct {
	Brand        demoEntity
	Competitors  []demoEntity
	ShareOfVoice struct {
		Platforms []struct {
			Platform           string
			BrandMentions      int64    `json:"brand_mentions"`
			CompetitorMentions int64    `json:"competitor_mentions"`
			Pct                *float64 `json:"sov_pct"`
		} `json:"by_platform"`
	} `json:"share_of_voice"`
	Traffic []struct {
		Platform string
		Visits   int64
	} `json:"platform_breakdown"`
	Crawlers []struct {
		Crawler  string
		Purpose  string
		Requests int64
	} `json:"crawler_breakdown"`
	Cards []struct {
		Title    string      `json:"product_title"`
		Price    json.Number `json:"price_amount"`
		Currency string      `json:"price_currency"`
		Role     string      `json:"matched_brand_role"`
	}
}

type demoEntity struct {
	Name     string
	Score    *float64 `json:"ai_visibility_score"`
	Mentions int64    `json:"total_mentions"`
	Interval *struct{ Low, High float64 }
}

// tour shows what the API answers as tables, and then how to go on.
func (d *demoSample) tour(ctx context.Context, s *demoService, api apiClient, page, password string) error {
	var f demoFigures
	of := "?brand_id=" + d.brand.Brand.ID.String()
	for _, path := range []string{
		"competitor-comparison" + of, "ai-traffic" + of, "ai-crawlers" + of, "shopping-cards" + of + "&limit=5",
	} {
		body, err := api.get(ctx, "/api/v1/"+path)
		if err == nil {
			err = json.Unmarshal(body, &f)
		}
		if err != nil {
			return fmt.Errorf("show %s: %w", path, err)
		}
	}
	s.p.say("\n%s, the last 30 days. Everything is simulated: no platform was asked, no site was visited.\n", d.brand.Brand.Name)
	f.write(s.p.stderr)
	question := d.question()
	var score *float64
	if err := s.Warehouse.QueryRow(ctx, question).Scan(&score); err != nil {
		return fmt.Errorf("ask the demo's question: %w", err)
	}
	text := dashboardLines(api.base, password) + d.closing(s, api, page, question, figure(score))
	s.p.say("%s", text)
	if err := os.WriteFile(filepath.Join(s.Settings.DataDir, demoText), []byte(text+"\n"), 0o600); err != nil {
		return fmt.Errorf("keep what status shows again: %w", err)
	}
	return nil
}

// demoText is the file of the data directory that keeps the closing lines for `status`.
const demoText = "demo.txt"

// dashboardLines say where the dashboard is, and who may sign in; without a password nobody may.
func dashboardLines(url, password string) string {
	if password == "" {
		return "Next:\n\n"
	}
	return fmt.Sprintf("Next:\n\n  see    %s/\n         the dashboard; sign in as %s with the password %s\n", url, demoEmail, password)
}

// closing says where everything is.
func (d *demoSample) closing(s *demoService, api apiClient, page, question, score string) string {
	return fmt.Sprintf(`  page   %s
         a shop with the pixel that counts your own visits
  API    curl -H 'Authorization: Bearer %s' '%s/api/v1/visibility-summary?brand_id=%s'
  SQL    %s
         is the API's aiVisibilityScore: %s
  key    %s
  more   %[9]s analyst add ana --org %[8]s
         gives a person SQL on this organization; docs/api.md and docs/sql.md have every question

%[9]s status shows these lines again.`, page, api.key, api.base, d.brand.Brand.ID, s.sqlClient(question), score, api.key, demoSlug, os.Args[0])
}

// write writes the figures as tables.
func (f demoFigures) write(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(format string, args ...any) { fmt.Fprintf(table, "  "+format+"\n", args...) }
	row("brand\tAI visibility score\t95 %% interval\tmentions")
	for _, e := range append([]demoEntity{f.Brand}, f.Competitors...) {
		interval := "-"
		if e.Interval != nil {
			interval = fmt.Sprintf("%.1f to %.1f", e.Interval.Low, e.Interval.High)
		}
		row("%s\t%s\t%s\t%d", e.Name, figure(e.Score), interval, e.Mentions)
	}
	row("\n  AI platform\tshare of voice %%\tmentions\tof competitors")
	for _, p := range f.ShareOfVoice.Platforms {
		row("%s\t%s\t%d\t%d", p.Platform, figure(p.Pct), p.BrandMentions, p.CompetitorMentions)
	}
	row("\n  visits from\tvisits")
	for _, p := range f.Traffic {
		row("%s\t%d", p.Platform, p.Visits)
	}
	row("\n  AI crawler\trequests\tpurpose")
	for _, c := range f.Crawlers {
		row("%s\t%d\t%s", c.Crawler, c.Requests, c.Purpose)
	}
	row("\n  shopping card\tprice\tmaker")
	for _, c := range f.Cards {
		row("%s\t%s %s\t%s", c.Title, c.Price, c.Currency, c.Role)
	}
	row("")
	_ = table.Flush() // to stderr, of which nothing depends
}

// figure is a number as people read it; the API's null is "-".
func figure(of *float64) string {
	if of == nil {
		return "-"
	}
	return strconv.FormatFloat(*of, 'f', -1, 64)
}

// question asks SQL for the score of the API's default window.
func (d *demoSample) question() string {
	return fmt.Sprintf("SELECT ai_visibility_score FROM entity_visibility(organization_id = '%s', brand_id = '%s', "+
		"date_from = '%s', date_to = '%s', platforms = [], models = [], regions = [], topics = [], branded = [], group_by = '') WHERE is_brand",
		d.organization.ID, d.brand.Brand.ID, d.until.AddDate(0, 0, -29).Format(time.DateOnly), d.until.Format(time.DateOnly))
}

// sqlClient is a command that asks the warehouse a question: by curl where the engine is embedded, and else by the
// client of the server's operator.
func (s *demoService) sqlClient(question string) string {
	if s.Settings.HasWarehouse() {
		return fmt.Sprintf("clickhouse client --query %q   # on %s", question, s.Settings.ClickHouse.Masked()+s.Settings.Shards.Masked())
	}
	address, err := url.Parse(s.Running.ClickHouse)
	if err != nil {
		return question
	}
	query := url.Values{"database": {strings.TrimPrefix(address.Path, "/")}}
	web := url.URL{Scheme: "http", User: address.User, Host: s.Running.ClickHouseHTTP, Path: "/", RawQuery: query.Encode()}
	return fmt.Sprintf("curl '%s' --data-binary %q", web.String(), question)
}

// An apiClient asks the API as its users do.
type apiClient struct{ base, key string }

func (c apiClient) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: %s", path, response.Status, body)
	}
	return body, nil
}

// await asks until the first field of that name is at least what it should be.
func (c apiClient) await(ctx context.Context, path, field string, want int, progress *meter) error {
	figure := regexp.MustCompile(`"` + field + `":(\d+)`)
	for {
		body, err := c.get(ctx, path)
		if err != nil {
			return err
		}
		m := figure.FindSubmatch(body)
		if m == nil {
			return fmt.Errorf("GET %s: no %s in %s", path, field, body)
		}
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
		progress.reach(int64(n))
		if n >= want {
			return nil
		}
		if err := lifecycle.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
