package reread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// page is some answers of a brand, appended with the names of one snapshot.
type page struct {
	began    time.Time
	snapshot *postgres.Snapshot
	ids      []clickhouse.UUID      // in the order of the log
	failed   int                    // answers that could not be appended, or were refused
	end      clickhouse.StaleCursor // of its last answer
}

const chunkBytes = 4 << 20 // held between the warehouse and the log

var errFull = errors.New("page is full")

// append appends stale answers of a brand as rereads, until the page is full.
func (r *Rereader) append(
	ctx context.Context, snapshot *postgres.Snapshot, stale []clickhouse.StaleAnswer,
) (page, error) {
	p := page{began: time.Now(), snapshot: snapshot}
	key := event.BrandKey(snapshot.BrandID)
	var records []producer.Record
	bytes, chunk := 0, 0
	send := func() error {
		_, err := r.producer.AppendAll(ctx, event.TopicAnswers, records)
		records, chunk = records[:0], 0
		return err
	}
	add := func(row *clickhouse.AnswerRow) error {
		if bytes >= pageBytes {
			return errFull
		}
		p.end = clickhouse.StaleCursor{Day: row.Day, ID: row.ID}
		value, err := r.encode(row, snapshot)
		if err != nil {
			if p.failed++; p.failed == 1 {
				r.log.Warn("answer cannot be appended again", "brand", snapshot.BrandID, "answer", row.ID, "cause", err,
					"next", "nothing at once: its figures stay as they are; report this line as a bug")
			}
			return nil
		}
		p.ids = append(p.ids, row.ID)
		records = append(records, producer.Record{Key: key, Value: value})
		bytes, chunk = bytes+len(value), chunk+len(value)
		if chunk >= chunkBytes {
			return send()
		}
		return nil
	}
	organization, brand := clickhouse.UUID(snapshot.OrganizationID), clickhouse.UUID(snapshot.BrandID)
	switch err := clickhouse.KeptAnswers(ctx, r.warehouse, organization, brand, stale, add); {
	case err == nil: // the last answer may have been deleted meanwhile
		last := stale[len(stale)-1]
		p.end = clickhouse.StaleCursor{Day: last.Day, ID: last.ID}
	case !errors.Is(err, errFull):
		return p, err
	}
	if err := send(); err != nil {
		return p, err
	}
	fault.Pass(fault.Requested)
	r.metrics.answers.Add(float64(len(p.ids)))
	return p, nil
}

func (r *Rereader) encode(row *clickhouse.AnswerRow, snapshot *postgres.Snapshot) ([]byte, error) {
	a, err := record(row, snapshot, r.cfg.ExtractVersion)
	if err != nil {
		return nil, err
	}
	if err := a.Check(time.Now()); err != nil {
		return nil, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		return nil, fmt.Errorf("with its current names: %w", err)
	}
	return value, nil
}

// record makes the record of a kept answer as it was appended first, but with the names of the snapshot.
func record(row *clickhouse.AnswerRow, snapshot *postgres.Snapshot, extractVersion int) (*event.Answer, error) {
	a := &event.Answer{
		V:              event.Version,
		ID:             uuid.UUID(row.ID),
		OrganizationID: snapshot.OrganizationID,
		Brand: event.Brand{
			Entity: event.Entity{
				ID: snapshot.BrandID, Name: snapshot.Name, Aliases: snapshot.Aliases, Domains: snapshot.Domains,
			},
			Revision: snapshot.Revision,
		},
		Prompt: event.Prompt{
			ID:        uuid.UUID(row.PromptID),
			Text:      row.PromptText,
			SetID:     uuid.UUID(row.PromptSetID),
			TopicID:   unlessNil(row.TopicID),
			IsBranded: row.IsBranded,
		},
		Platform:      row.Platform,
		Model:         row.Model,
		ServedModel:   row.ServedModel,
		Provider:      row.Provider,
		Region:        row.Region,
		Language:      row.Language,
		Surface:       event.Surface(row.Surface),
		Sample:        row.Sample,
		JobID:         unlessNil(row.JobID),
		Simulated:     row.Simulated,
		AnsweredAt:    event.At(row.AnsweredAt),
		LatencyMS:     row.LatencyMS,
		Attempts:      int(row.Attempts),
		Finish:        event.Finish(row.Finish),
		Text:          row.Text,
		SearchQueries: row.SearchQueries,
		Usage:         usage(row),
		Reread:        &event.Reread{MinExtractVersion: extractVersion},
	}
	for _, c := range snapshot.Competitors {
		competitor := event.Entity{ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains}
		a.Competitors = append(a.Competitors, competitor)
	}
	for i, url := range row.RawCitationURLs {
		a.Citations = append(a.Citations, event.Citation{
			URL: url, Title: row.RawCitationTitles[i], Cited: row.RawCitationCited[i],
		})
	}
	if row.RawProducts != "" {
		if err := json.Unmarshal([]byte(row.RawProducts), &a.Products); err != nil {
			return nil, fmt.Errorf("read products of answer %s: %w", a.ID, err)
		}
	}
	if row.GivenUp {
		a.GivenUp = &event.GivenUp{Class: row.GivenUpClass, Error: row.GivenUpError}
	}
	return a, nil
}

// usage is nil if the record had none.
func usage(row *clickhouse.AnswerRow) *event.Usage {
	if row.InputTokens == 0 && row.OutputTokens == 0 && row.Searches == 0 && row.CostUSD.IsZero() {
		return nil
	}
	u := &event.Usage{InputTokens: row.InputTokens, OutputTokens: row.OutputTokens, Searches: row.Searches}
	if !row.CostUSD.IsZero() {
		u.CostUSD = row.CostUSD.String()
	}
	return u
}

func unlessNil(id clickhouse.UUID) *uuid.UUID {
	if id == (clickhouse.UUID{}) {
		return nil
	}
	return new(uuid.UUID(id))
}
