package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	checkTimeout = 5 * time.Second // for the first check of a store, which the listeners wait for
	storeRetry   = time.Second     // between two checks of stores that are away
)

// stores knows which stores of a server answer and have their schema, and why the others do not.
type stores struct {
	names  []lifecycle.Store // in the order in which they are brought up: PostgreSQL has the lock for all of them
	opened map[lifecycle.Store]chan struct{}

	mu     sync.Mutex
	causes map[lifecycle.Store]error // of those that are not up
}

func newStores(need Needs) *stores {
	s := &stores{opened: map[lifecycle.Store]chan struct{}{}, causes: map[lifecycle.Store]error{}}
	for _, store := range []lifecycle.Store{lifecycle.Postgres, lifecycle.ClickHouse, lifecycle.Kafka} {
		if need.Has(upkeep.Step{Store: string(store)}) {
			s.names, s.opened[store] = append(s.names, store), make(chan struct{})
		}
	}
	return s
}

// up reports whether all of some stores are up; one that the server does not use counts as up.
func (s *stores) up(names ...lifecycle.Store) bool {
	return !slices.ContainsFunc(names, func(name lifecycle.Store) bool {
		select {
		case <-s.opened[name]:
			return false
		default:
			return s.opened[name] != nil
		}
	})
}

// await waits until all of some stores are up.
func (s *stores) await(ctx context.Context, names []lifecycle.Store) error {
	for _, name := range names {
		opened := s.opened[name]
		if opened == nil {
			continue
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// note records that a store is up, or why it is not, and reports whether that changed.
func (s *stores) note(store lifecycle.Store, cause error) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.causes[store]
	if cause == nil {
		delete(s.causes, store)
		close(s.opened[store])
		return before != nil
	}
	s.causes[store] = cause
	return before == nil
}

// ready returns which stores are not up, for /readyz.
func (s *stores) ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, store := range s.names {
		if cause := s.causes[store]; cause != nil {
			errs = append(errs, fmt.Errorf("%s: %w", store, cause))
		} else if !s.up(store) {
			errs = append(errs, fmt.Errorf("%s is being brought up", store))
		}
	}
	return errors.Join(errs...)
}

// bringUp brings up every store that is not up. The first time it checks each once, and any error other than that a
// store is away ends the server; after that it tries again until all are up, and returns when ctx ends.
func (s *Service) bringUp(ctx context.Context, spec Spec, first bool) error {
	for {
		for _, store := range s.stores.names {
			if s.stores.up(store) {
				continue
			}
			err := s.prepare(ctx, spec, store)
			if err != nil && (ctx.Err() != nil || first && (spec.FailFast || !away(err))) {
				return unlessStopped(ctx, err)
			}
			switch changed := s.stores.note(store, err); {
			case changed && err != nil:
				s.Log.Warn("store is not up", "store", store, "cause", err, "next",
					"start it, or correct its address; what needs it waits until then")
			case changed:
				s.Log.Info("store is up", "store", store)
			}
		}
		if first {
			return nil
		}
		if s.stores.up(s.stores.names...) {
			<-ctx.Done()
			return nil
		}
		if lifecycle.Pause(ctx, storeRetry) != nil {
			return nil //nolint:nilerr // stopped
		}
	}
}

// prepare brings the schema of a store up where this process may, and else returns which command does.
func (s *Service) prepare(ctx context.Context, spec Spec, store lifecycle.Store) error {
	need := Needs{
		Postgres: store == lifecycle.Postgres, ClickHouse: store == lifecycle.ClickHouse,
		Kafka: store == lifecycle.Kafka,
	}
	if spec.Tolerant {
		need = s.Embedded(need)
	}
	checking, done := context.WithTimeout(ctx, checkTimeout)
	defer done()
	switch {
	case spec.Exclusive:
	case s.Embedded(need) == Needs{}:
		return s.upToDate(checking, need)
	default:
		return s.upToDate(ctx, need)
	}
	migrator := s.Migrator()
	steps, err := migrator.Pending(checking, need)
	migrator.WarnNewer()
	if err != nil || len(steps) == 0 {
		return err
	}
	reach, end := s.Progress(string(store)+" brought up", int64(len(steps)))
	defer end()
	migrator.Report = func(done, _ int, _ upkeep.Step) { reach(int64(done)) }
	return migrator.Migrate(ctx, need, steps)
}

// away reports whether an error is that a store cannot be reached, and not its answer.
func away(err error) bool {
	_, failed := errors.AsType[net.Error](err)
	return failed || postgres.IsTransient(err) || clickhouse.IsTransient(err) ||
		errors.Is(err, context.DeadlineExceeded)
}
