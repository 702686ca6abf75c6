package results

import (
	"context"
)

// Prune deletes what has grown old and is not the newest of its prompt and platform,
// portion by portion until nothing is left.
func (r *Results) Prune(ctx context.Context) error {
	var all int64
	defer func() { r.log.Info("results pruned", "rows", all) }()
	for {
		n, err := r.prune(ctx)
		if err != nil {
			return err
		}
		all += n
		r.metrics.pruned.Add(float64(n))
		if n < int64(r.cfg.Prune) {
			return nil
		}
	}
}

func (r *Results) prune(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	return r.db.PruneResults(ctx, r.now().Add(-r.cfg.Keep), r.cfg.Prune)
}
