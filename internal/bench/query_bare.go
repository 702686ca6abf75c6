package main

import (
	"embed"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

//go:embed query/bare/*.sql
var bareFiles embed.FS

// bareSums are the files of query/bare by a text that the questions to the same rows have; the first applies.
var bareSums = []struct{ text, file string }{
	{"search_queries", "searches"},
	{"FROM entity_prompt_daily", "entities"},
	{"FROM citation_daily", "citations"},
	{"FROM brand_prompt_daily", "prompts"},
	{"FROM answer_daily", "days"},
	{"FROM shopping_cards", "cards"},
	{"FROM visit_daily", "visits"},
	{"FROM crawl_daily", "crawls"},
	{"FROM answers", "answers"},
}

// bareCalls returns the statements that sum the rows of brands which calls ask for, in the window of a question, each
// once. They run with the settings of the first call.
func bareCalls(calls []call, q question, brands []string) (bare []call, err error) {
	var files []string
	for _, c := range calls {
		for _, sums := range bareSums {
			if strings.Contains(c.text, sums.text) {
				files = append(files, sums.file)
				break
			}
		}
	}
	if len(files) == 0 { // the rows are of dimensions
		files = []string{"one"}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		text, err := bareFiles.ReadFile("query/bare/" + file + ".sql")
		if err != nil {
			return nil, err
		}
		bare = append(bare, call{calls[0].ctx, string(text), []any{
			driver.Named("organization_id", q.brand.organization.String()), driver.Named("brands", brands),
			driver.Named("date_from", q.from.Format(time.DateOnly)),
			driver.Named("date_to", q.from.AddDate(0, 0, q.days-1).Format(time.DateOnly)),
		}})
	}
	return bare, nil
}
