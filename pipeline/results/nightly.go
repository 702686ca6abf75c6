package results

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	maxPruned  = 1000 // rows that one statement deletes
	maxRenewed = 500  // rows that one statement updates
)

// Prune deletes the rows that are older than maxAge and not the newest of their prompt and platform.
func (r *Results) Prune(ctx context.Context) error {
	var all int64
	defer func() { r.log.Info("results pruned", "rows", all) }()
	for {
		n, err := r.pruneSome(ctx)
		if err != nil {
			return err
		}
		all += n
		r.metrics.pruned.Add(float64(n))
		if n < maxPruned {
			return nil
		}
	}
}

func (r *Results) pruneSome(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return r.db.PruneResults(ctx, r.now().Add(-maxAge), maxPruned)
}

// Renew copies newer readings from the warehouse to the rows of an earlier extractor. At an upgrade the sink and this
// group are at different offsets: no reread comes for an answer that this group read before the upgrade and the sink
// after it.
func (r *Results) Renew(ctx context.Context) error {
	brands, err := r.db.OutdatedResultBrands(ctx, r.extractVersion)
	if err != nil {
		return err
	}
	for _, brand := range brands {
		if err := r.renewBrand(ctx, brand); err != nil {
			return fmt.Errorf("renew results of brand %s: %w", brand, err)
		}
	}
	return nil
}

func (r *Results) renewBrand(ctx context.Context, brand uuid.UUID) error {
	var last *postgres.OutdatedResult
	for {
		outdated, err := r.db.OutdatedResults(ctx, brand, r.extractVersion, last, maxRenewed)
		if err != nil || len(outdated) == 0 {
			return err
		}
		last = &outdated[len(outdated)-1]
		if err := r.renewSome(ctx, brand, outdated); err != nil {
			return err
		}
	}
}

func (r *Results) renewSome(ctx context.Context, brand uuid.UUID, outdated []postgres.OutdatedResult) error {
	keys := make([]clickhouse.Key, len(outdated))
	for i, o := range outdated {
		organization, id := clickhouse.UUID(o.OrganizationID), clickhouse.UUID(o.ID)
		keys[i] = clickhouse.Key{OrganizationID: organization, BrandID: clickhouse.UUID(brand), ID: id}
	}
	current, err := clickhouse.CurrentAnswers(ctx, r.warehouse, keys, clickhouse.LogLimit{})
	if err != nil {
		return err
	}
	var results []postgres.Result
	for _, row := range current {
		result := resultOf(row)
		result.Response = "" // only the reading is renewed
		results = append(results, *result)
	}
	renewed, err := r.db.RenewResults(ctx, results)
	r.metrics.renewed.Add(float64(renewed))
	return err
}
