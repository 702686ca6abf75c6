package tracking

import (
	"context"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// announce says that this process works on jobs, and which platforms it can ask with keys of its environment.
func (j *Jobs) announce(ctx context.Context) error {
	known, err := j.Platforms.List(ctx, uuid.Nil) // no organization's: the environment's
	if err != nil {
		return err
	}
	var slugs []string
	for _, k := range known {
		if k.NeedsKey && k.Unavailable == "" {
			slugs = append(slugs, k.Slug)
		}
	}
	return j.DB.RegisterWorker(ctx, j.gates.holder, slugs, j.silence)
}

// known lists the organization's platforms; a key of the environment counts only if every worker announced it. Without
// workers this process's own environment decides.
func (j *Jobs) known(ctx context.Context, organization uuid.UUID) ([]Platform, error) {
	list, err := j.Platforms.List(ctx, organization)
	if err != nil {
		return nil, err
	}
	workers, err := j.DB.TrackingWorkers(ctx)
	if err != nil || len(workers) == 0 {
		return list, err
	}
	for i := range list {
		lacks := func(worker []string) bool { return !slices.Contains(worker, list[i].Slug) }
		list[i] = list[i].Where(!slices.ContainsFunc(workers, lacks))
	}
	return list, nil
}
