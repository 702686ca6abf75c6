package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

var (
	//go:embed query/answers.sql
	insertAnswers string
	//go:embed query/visits.sql
	insertVisits string
	//go:embed query/crawls.sql
	insertCrawls string
)

// The shape of the data, which answers.sql knows too.
const (
	brandsOfOne  = 30 // organization, as large as brands-overview is measured
	promptsOfOne = 25 // brand
	rivalsOfOne  = 5
	rivalsDaily  = 10 // of the brand that is asked daily
	topicsOfOne  = 5
)

// firstDay is the first of the days that have answers.
var firstDay = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// A brand, and the key that may ask about it.
type brand struct {
	id           uuid.UUID
	organization uuid.UUID
	key          string
	rivals       int
}

// addBrands creates organizations with their brands, competitors, prompts and keys.
func addBrands(ctx context.Context, db *postgres.DB, n int) ([]brand, error) {
	var all []brand
	var organization postgres.Organization
	var key auth.APIKey
	for i := range n {
		var err error
		if i%brandsOfOne == 0 {
			if organization, key, err = addOrganization(ctx, db, i/brandsOfOne); err != nil {
				return nil, err
			}
		}
		id, err := addBrand(ctx, db, organization.ID, i, rivalsOfOne)
		if err != nil {
			return nil, err
		}
		all = append(all, brand{id, organization.ID, key.Text, rivalsOfOne})
	}
	return all, nil
}

// addDaily creates the brand after the first n, in an organization of its own. answers.sql has its prompts asked daily.
func addDaily(ctx context.Context, db *postgres.DB, n int) (brand, error) {
	organization, key, err := addOrganization(ctx, db, n/brandsOfOne+1)
	if err != nil {
		return brand{}, err
	}
	id, err := addBrand(ctx, db, organization.ID, n, rivalsDaily)
	return brand{id, organization.ID, key.Text, rivalsDaily}, err
}

// addOrganization creates one with a user and a key.
func addOrganization(ctx context.Context, db *postgres.DB, i int) (postgres.Organization, auth.APIKey, error) {
	name := fmt.Sprintf("organization-%d", i)
	o, err := db.AddOrganization(ctx, name, name)
	if err != nil {
		return o, auth.APIKey{}, err
	}
	u, err := db.AddUser(ctx, postgres.NewUser{Email: "ann@" + name + ".example", OrganizationID: o.ID, Role: "owner"})
	if err != nil {
		return o, auth.APIKey{}, err
	}
	key := auth.MintKey()
	_, err = db.AddKey(ctx, postgres.NewKey{OrganizationID: o.ID, UserID: u.ID, Name: "bench", Hash: key.Hash, Prefix: key.Prefix})
	return o, key, err
}

func addBrand(ctx context.Context, db *postgres.DB, organization uuid.UUID, i, rivals int) (uuid.UUID, error) {
	slug := fmt.Sprintf("brand-%03d", i)
	b := postgres.NewBrand{Name: fmt.Sprintf("Brand %03d", i), Slug: slug, Domains: []string{slug + ".example"}}
	for r := range rivals {
		b.Competitors = append(b.Competitors, postgres.NewCompetitor{
			Name: fmt.Sprintf("Rival %d of %03d", r+1, i), Domains: []string{fmt.Sprintf("rival-%d-of-%03d.example", r+1, i)},
		})
	}
	made, _, err := db.AddBrand(ctx, organization, b)
	if err != nil {
		return uuid.Nil, err
	}
	var prompts []postgres.NewPrompt
	for p := range promptsOfOne {
		prompts = append(prompts, postgres.NewPrompt{
			Text: fmt.Sprintf("question %02d about %s", p, b.Name), Topic: fmt.Sprintf("topic %d", p%topicsOfOne),
		})
	}
	_, err = db.EnsurePrompts(ctx, made.ID, prompts)
	return made.ID, err
}

// addSuggestions stores as many suggestions for a brand as it can have: 50 of each kind.
func addSuggestions(ctx context.Context, db *postgres.DB, to brand) error {
	kinds := []string{advice.KindSource, advice.KindCompetitor, advice.KindPrompt, advice.KindPage, advice.KindTheme}
	var rows []advice.Suggestion
	for _, kind := range kinds {
		for i := range 50 {
			rows = append(rows, advice.Suggestion{
				Kind: kind, Key: fmt.Sprintf("key %d", i), Score: float64(i),
				Text:     "This sentence is as long as that of most suggestions, which name a domain, a rival and two counts.",
				Evidence: map[string]any{"answers": 12, "brand_answers": 1, "rival_answers": 10, "open": "mentioned=false"},
			})
		}
	}
	return db.StoreAdvice(ctx, postgres.Advice{
		DueAdvice: postgres.DueAdvice{BrandID: to.id, Inputs: json.RawMessage("{}")}, RulesVersion: advice.RulesVersion,
		From: firstDay.Format(time.DateOnly), To: firstDay.Format(time.DateOnly), Window: struct{}{},
		Suggestions: rows, Totals: []advice.Total{}, Reasons: []advice.Reason{}, ComputedAt: time.Now(),
	})
}

// mirrorBrands copies what was added to the dimensions of a warehouse, and returns once it is there.
func mirrorBrands(ctx context.Context, log *slog.Logger, db *postgres.DB, to *clickhouse.Conn, brands []brand) error {
	copies := upkeep.NewMirror(db, to, prometheus.NewRegistry(), log)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	const question = `
		SELECT (SELECT uniqExact(id) FROM dimension_brands) + (SELECT uniqExact(id) FROM dimension_competitors)
			+ (SELECT uniqExact(id) FROM dimension_prompts) + (SELECT uniqExact(id) FROM dimension_topics)`
	var there, want uint64
	for _, b := range brands {
		want += uint64(1 + promptsOfOne + b.rivals + topicsOfOne)
	}
	err := beside(ctx, copies.Run, func(ctx context.Context) error {
		return poll(ctx, 20*time.Millisecond, func() (bool, error) {
			err := to.QueryRow(ctx, question).Scan(&there)
			return there == want, err
		})
	})
	if err != nil {
		return fmt.Errorf("mirror %d rows, of which %d are there: %w", want, there, err)
	}
	return nil
}

// data is how much goes into one warehouse.
type data struct {
	brands, days, visits, samples int // visits a day of a brand, and as many crawls; they do not grow with samples
}

// fill inserts month by month, a month of a table at once, so that every view of answers, visits and crawls fills.
// Landing tables, which no figure is read from, are left as inserted; the rest is merged to the end: the figures should
// not depend on how far merges have come.
func fill(ctx context.Context, warehouse *clickhouse.Conn, d data, progress func(string, ...any)) error {
	var tables []string
	const question = `
		SELECT arraySort(groupArray(name)) FROM system.tables
		WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') AND name != 'schema_migrations'`
	if err := warehouse.QueryRow(ctx, question).Scan(&tables); err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, table := range tables {
		// This data need not survive a loss of power, and syncing took as long as all else.
		if err := warehouse.Exec(ctx, "ALTER TABLE "+table+" MODIFY SETTING fsync_after_insert = 0, fsync_part_directory = 0"); err != nil {
			return fmt.Errorf("turn off syncs of %s: %w", table, err)
		}
		if slices.Contains(landing, table) {
			if err := warehouse.Exec(ctx, "SYSTEM STOP MERGES "+table); err != nil {
				return fmt.Errorf("stop merges of %s: %w", table, err)
			}
		}
	}
	last := firstDay.AddDate(0, 0, d.days)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for from := firstDay; from.Before(last); {
		to := from.AddDate(0, 1, 1-from.Day())
		if to.After(last) {
			to = last
		}
		month, days := from, int(to.Sub(from).Hours()/24)
		group.Go(func() error {
			if err := fillDays(within, warehouse, d, month, days); err != nil {
				return fmt.Errorf("insert %s: %w", month.Format("2006-01"), err)
			}
			progress("  inserted %s with %d samples", month.Format("2006-01"), d.samples)
			return nil
		})
		from = to
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return merge(ctx, warehouse, tables, progress)
}

// atOnce is how many inserts or merges are under way.
const atOnce = 2

var landing = []string{"answers", "visits", "crawls"}

func fillDays(ctx context.Context, warehouse *clickhouse.Conn, d data, from time.Time, days int) error {
	for topic, statement := range map[string]string{"answers": insertAnswers, "visits": insertVisits, "crawls": insertCrawls} {
		if err := warehouse.Exec(ctx, statement, d.params(from, days)...); err != nil {
			return fmt.Errorf("%s: %w", topic, err)
		}
	}
	return nil
}

// params are those of the statements that insert some days.
func (d data) params(from time.Time, days int) []any {
	return []any{
		driver.Named("samples", d.samples), driver.Named("visits", d.visits), driver.Named("crawls", d.visits),
		driver.Named("first_day", string(clickhouse.DayOf(from))), driver.Named("days", days), driver.Named("brands", d.brands),
	}
}

// merge merges every table but the landing ones to one part a month.
func merge(ctx context.Context, warehouse *clickhouse.Conn, tables []string, progress func(string, ...any)) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, table := range tables {
		if slices.Contains(landing, table) {
			continue
		}
		group.Go(func() error {
			if err := warehouse.Exec(within, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
				return fmt.Errorf("merge %s: %w", table, err)
			}
			progress("  merged %s", table)
			return nil
		})
	}
	return group.Wait()
}

// copyDimensions copies what was mirrored to another database of the same server.
func copyDimensions(ctx context.Context, from *clickhouse.Conn, to string) error {
	for _, table := range []string{"dimension_brands", "dimension_competitors", "dimension_prompts", "dimension_topics"} {
		if err := from.Exec(ctx, "INSERT INTO "+to+"."+table+" SELECT * FROM "+table); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	return nil
}
