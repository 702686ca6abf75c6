package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/shopspring/decimal"
)

// KeptAnswer is an answer as it was told: what its first row has. The nil UUID and
// 0 stand for none.
type KeptAnswer struct {
	Day            time.Time `ch:"day"`
	ID             UUID      `ch:"id"`
	Revision       int64     `ch:"revision"`
	ExtractVersion uint16    `ch:"extract_version"`

	AnsweredAt  time.Time `ch:"answered_at"`
	Platform    string    `ch:"platform"`
	Model       string    `ch:"model"`
	ServedModel string    `ch:"served_model"`
	Region      string    `ch:"region"`
	Language    string    `ch:"language"`
	Surface     string    `ch:"surface"`
	Sample      int64     `ch:"sample"`
	PromptID    UUID      `ch:"prompt_id"`
	PromptSetID UUID      `ch:"prompt_set_id"`
	TopicID     UUID      `ch:"topic_id"`
	PromptText  string    `ch:"prompt_text"`
	IsBranded   *bool     `ch:"is_branded"`
	JobID       UUID      `ch:"job_id"`
	Simulated   bool      `ch:"simulated"`

	GivenUp      bool   `ch:"given_up"`
	GivenUpClass string `ch:"given_up_class"`
	GivenUpError string `ch:"given_up_error"`
	Attempts     uint32 `ch:"attempts"`
	LatencyMS    int64  `ch:"latency_ms"`
	Finish       string `ch:"finish"`

	Text              string          `ch:"text"`
	SearchQueries     []string        `ch:"search_queries"`
	RawCitationURLs   []string        `ch:"raw_citations.url"`
	RawCitationTitles []string        `ch:"raw_citations.title"`
	RawCitationCited  []bool          `ch:"raw_citations.cited"`
	RawProducts       string          `ch:"raw_products"` // JSON
	InputTokens       int64           `ch:"input_tokens"`
	OutputTokens      int64           `ch:"output_tokens"`
	Searches          int64           `ch:"searches"`
	CostUSD           decimal.Decimal `ch:"cost_usd"`
}

type keptParams struct {
	OrganizationID UUID   `ch:"organization"`
	BrandID        UUID   `ch:"brand"`
	Days           []Day  `ch:"days"`
	IDs            []UUID `ch:"ids"`
}

var keptAnswers = query[keptParams, KeptAnswer]("kept_answers")

// KeptAnswers gives the first rows of answers to take, one after the other, in order
// of their days and ids; it holds a few at a time. An error of take ends it.
func KeptAnswers(ctx context.Context, conn *Conn, organization, brand UUID, answers []StaleAnswer, take func(*KeptAnswer) error) error {
	p := keptParams{OrganizationID: organization, BrandID: brand}
	first := make(map[UUID]Reading, len(answers))
	for _, a := range answers {
		if day := DayOf(a.Day); len(p.Days) == 0 || p.Days[len(p.Days)-1] != day {
			p.Days = append(p.Days, day)
		}
		p.IDs = append(p.IDs, a.ID)
		first[a.ID] = Reading{a.Revision, a.ExtractVersion}
	}
	return keptAnswers.each(ctx, conn, p, clickhouse.Settings{"max_threads": 1}, func(row *KeptAnswer) error {
		if first[row.ID] != (Reading{row.Revision, row.ExtractVersion}) {
			return nil // a correction, which has no texts
		}
		return take(row)
	})
}

// each asks the question once and gives its rows to take as they come.
func (q Query[P, R]) each(ctx context.Context, conn *Conn, params P, settings clickhouse.Settings, take func(*R) error) (err error) {
	ctx, span := openSpan(ctx, "SELECT", q.Name)
	count := 0
	defer func() { answered(span, count, err) }()
	with := clickhouse.Settings{"log_comment": q.Name}
	maps.Copy(with, q.settings)
	maps.Copy(with, settings)
	rows, err := conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(with)), q.Text, Bind(params)...)
	if err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row R
		if err := rows.ScanStruct(&row); err != nil {
			return fmt.Errorf("query %s: %w", q.Name, err)
		}
		count++
		if err := take(&row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	return nil
}
