package cli

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/share"
	"github.com/answerscope/answerscope/sql/postgres"
)

// demoText is the file of the data directory that keeps the closing lines for `status`.
const demoText = "demo.txt"

// explain prints the brand beside its competitors, and then how to go on.
func (d *demo) explain(ctx context.Context, api apiClient, page, password string) error {
	d.p.say("\n%s, the last 30 days. Everything is simulated: no platform was asked, no site was visited.\n",
		d.brand.Brand.Name)
	if err := d.printComparison(ctx, api); err != nil {
		return err
	}
	if err := d.printVerdicts(ctx, api); err != nil {
		return err
	}
	question := d.question()
	var score *float64
	if err := d.Warehouse.QueryRow(ctx, question).Scan(&score); err != nil {
		return fmt.Errorf("ask the demo's question: %w", err)
	}
	directory := ""
	if filepath.Clean(d.Settings.DataDir) != "var" { // the default
		directory = " --data-dir " + d.Settings.DataDir
	}
	link, see := "", ""
	if password != "" {
		path, err := d.shareLink(ctx)
		if err != nil {
			return err
		}
		link = fmt.Sprintf("  share  %s%s\n         what a client sees, without an account\n"+
			"  hooks  %s webhook list --org %s%s\n         "+
			"who is told by webhooks; in the dashboard under Organization → Webhooks, with what was sent\n",
			api.base, path, os.Args[0], demoSlug, directory)
		see = fmt.Sprintf("  see    %s/\n         the dashboard; sign in as %s with the password %s\n",
			api.base, demoEmail, password)
	}
	text := fmt.Sprintf(`Next:

  page   %s
         a shop with the pixel that counts your own visits
  API    curl -H 'Authorization: Bearer %s' '%s/api/v1/visibility-summary?brand_id=%s'
  AI     claude mcp add --transport http answerscope %[3]s/mcp --header 'Authorization: Bearer %[2]s'
  SQL    %[5]s
         is the API's aiVisibilityScore: %s
  mail   %s
         the weekly report; docs/mail.md names the relay that sends it
  more   %s analyst add ana --org %s%s
         gives a person SQL on this organization; docs/api.md and docs/sql.md have every question
%s%s
Ctrl-C stops it; the data stays in %s. %[8]s status%[10]s shows these lines again.`,
		page, api.key, api.base, d.brand.Brand.ID, d.sqlClient(question), figure(score),
		filepath.Join(d.Settings.DataDir, demoMail), os.Args[0], demoSlug, directory, link, see, d.Settings.DataDir)
	d.p.say("%s", text)
	if err := os.WriteFile(filepath.Join(d.Settings.DataDir, demoText), []byte(text+"\n"), 0o600); err != nil {
		return fmt.Errorf("store the text for status: %w", err)
	}
	return nil
}

// shareLink returns the path of the demo's share link.
func (d *demo) shareLink(ctx context.Context) (string, error) {
	valid := func(path string) (bool, error) {
		hash, ok := auth.Parse("shr_", strings.TrimPrefix(path, "/share/"))
		if !ok {
			return false, nil
		}
		link, err := d.DB.ShareLink(ctx, hash)
		if errors.Is(err, postgres.ErrNotFound) {
			return false, nil
		}
		return err == nil && link.BrandID == d.stored.ID, err
	}
	return d.storedSecret("demo.share", valid, func() (string, error) {
		draft := share.NewDraft(d.organization.ID, uuid.Nil, time.Now())
		draft.BrandID, draft.Title, draft.Screens = d.stored.ID, "Demo for a client", share.Screens
		_, path, err := share.Add(ctx, d.DB, draft, time.Now())
		return path, err
	})
}

// printComparison prints the brand and its competitors as a table.
func (d *demo) printComparison(ctx context.Context, api apiClient) error {
	type entity struct {
		Name     string
		Score    *float64 `json:"ai_visibility_score"`
		Mentions int64    `json:"total_mentions"`
		Interval *struct{ Low, High float64 }
	}
	var comparison struct {
		Brand       entity
		Competitors []entity
	}
	path := "/api/v1/competitor-comparison?brand_id=" + d.brand.Brand.ID.String()
	if err := api.read(ctx, path, &comparison); err != nil {
		return fmt.Errorf("show the comparison: %w", err)
	}
	table := tabwriter.NewWriter(d.p.stderr, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  brand\tAI visibility score\t95 % interval\tmentions")
	for _, e := range append([]entity{comparison.Brand}, comparison.Competitors...) {
		interval := "-"
		if e.Interval != nil {
			interval = fmt.Sprintf("%.1f to %.1f", e.Interval.Low, e.Interval.High)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d\n", e.Name, figure(e.Score), interval, e.Mentions)
	}
	fmt.Fprintln(table)
	_ = table.Flush() // nothing depends on stderr
	return nil
}

// printVerdicts prints whether the brand moved, and the verdicts on its platforms.
func (d *demo) printVerdicts(ctx context.Context, api apiClient) error {
	var changes metrics.Changes
	path := "/api/v1/visibility-changes?group_by=platform&brand_id=" + d.brand.Brand.ID.String()
	if err := api.read(ctx, path, &changes); err != nil {
		return fmt.Errorf("show the verdicts: %w", err)
	}
	since := ""
	if at := changes.Change.Since; at != nil {
		since = fmt.Sprintf(" since %s (%+.1f points)", at.Day, at.Difference)
	}
	platforms := make([]string, len(changes.Changes))
	for i, row := range changes.Changes {
		platforms[i] = row.Key + " " + row.Verdict
	}
	d.p.say("  verdict, beside the 30 days before: %s %s%s\n  by platform: %s\n",
		d.brand.Brand.Name, changes.Change.Verdict, since, strings.Join(platforms, ", "))
	return nil
}

// figure is a number for people; the API's null is "-".
func figure(n *float64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// question asks SQL for the score of the API's default window.
func (d *demo) question() string {
	return fmt.Sprintf("SELECT ai_visibility_score FROM entity_visibility(organization_id = '%s', brand_id = '%s', "+
		"date_from = '%s', date_to = '%s', platforms = [], models = [], regions = [], topics = [], branded = [], "+
		"group_by = '', prompts = []) WHERE is_brand",
		d.organization.ID, d.brand.Brand.ID,
		d.until.AddDate(0, 0, -29).Format(time.DateOnly), d.until.Format(time.DateOnly))
}

// sqlClient is a command that asks the warehouse a question: curl where the engine is embedded, and else the client of
// the server's operator.
func (d *demo) sqlClient(question string) string {
	if d.Settings.HasWarehouse() {
		return fmt.Sprintf("clickhouse client --query %q   # on %s", question,
			d.Settings.ClickHouse.Masked()+d.Settings.Shards.Masked())
	}
	address, err := url.Parse(d.Running.ClickHouse)
	if err != nil {
		return question
	}
	query := url.Values{"database": {strings.TrimPrefix(address.Path, "/")}}
	web := url.URL{Scheme: "http", User: address.User, Host: d.Running.ClickHouseHTTP, Path: "/",
		RawQuery: query.Encode()}
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

// read decodes the API's answer.
func (c apiClient) read(ctx context.Context, path string, into any) error {
	body, err := c.get(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// await asks until the first field of that name is at least want.
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
		progress.reach(int64(min(n, want))) // the daily tracking job may have added some
		if n >= want {
			return nil
		}
		if err := lifecycle.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
