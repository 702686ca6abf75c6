package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	lookTimeout = 5 * time.Second // for the first look at a store, which the listeners wait for
	storeRetry  = time.Second     // between two looks at stores that are away
)

// storeNames are the stores in the order in which they are brought up: PostgreSQL has the lock for all of them.
var storeNames = []string{"postgres", "clickhouse", "kafka"}

// one is the need of a single store.
func one(store string) needs {
	return needs{Postgres: store == "postgres", ClickHouse: store == "clickhouse", Kafka: store == "kafka"}
}

// among reports whether a store is one of need.
func among(store string, need needs) bool { return need.Has(upkeep.Step{Store: store}) }

// stores knows which stores of a service answer and have their schema, and why the others do not.
type stores struct {
	opened map[string]chan struct{} // closed once the store is up

	mu     sync.Mutex
	causes map[string]error // of those that are not
}

func newStores(need needs) *stores {
	s := &stores{opened: map[string]chan struct{}{}, causes: map[string]error{}}
	for _, store := range storeNames {
		if among(store, need) {
			s.opened[store] = make(chan struct{})
		}
	}
	return s
}

// up reports whether every store of need is up; a store that the service does not use is.
func (s *stores) up(need needs) bool {
	for store, opened := range s.opened {
		select {
		case <-opened:
		default:
			if among(store, need) {
				return false
			}
		}
	}
	return true
}

// await waits until every store of need is up.
func (s *stores) await(ctx context.Context, need needs) error {
	for store, opened := range s.opened {
		if !among(store, need) {
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

// settle notes that a store is up, or why it is not, and reports whether that is new.
func (s *stores) settle(store string, cause error) (changed bool) {
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

// ready says which stores are not up, for /readyz.
func (s *stores) ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, store := range storeNames {
		if cause := s.causes[store]; cause != nil {
			errs = append(errs, fmt.Errorf("%s: %w", store, cause))
		} else if !s.up(one(store)) {
			errs = append(errs, fmt.Errorf("%s is being brought up", store))
		}
	}
	return errors.Join(errs...)
}

// bringUp brings every store up that is not. The first time it looks once at each, and an error that is not of a store
// that is away ends the service; after that it tries again until all are up, and returns when ctx ends.
func (s *service) bringUp(ctx context.Context, plan plan, first bool) error {
	for {
		for _, store := range storeNames {
			if s.stores.up(one(store)) {
				continue
			}
			err := s.prepare(ctx, plan, one(store))
			if err != nil && (ctx.Err() != nil || first && (plan.hurried || !away(err))) {
				return unlessStopped(ctx, err)
			}
			switch changed := s.stores.settle(store, err); {
			case changed && err != nil:
				s.log.Warn("store is not up", "store", store, "cause", err, "next", "start it, or correct its address; what needs it waits until then")
			case changed:
				s.log.Info("store is up", "store", store)
			}
		}
		if first {
			return nil
		}
		if s.stores.up(everything) {
			<-ctx.Done()
			return nil
		}
		if lifecycle.Pause(ctx, storeRetry) != nil {
			return nil //nolint:nilerr // stopped
		}
	}
}

// prepare brings the schemas of need up where this process may, and else says which command does.
func (s *service) prepare(ctx context.Context, plan plan, need needs) error {
	if plan.unchecked {
		need = s.embedded(need)
	}
	looking, done := context.WithTimeout(ctx, lookTimeout)
	defer done()
	switch {
	case plan.exclusive:
	case s.embedded(need) == needs{}:
		return s.upToDate(looking, need)
	default:
		return s.upToDate(ctx, need)
	}
	migrator := s.migrator()
	steps, err := migrator.Pending(looking, need)
	migrator.WarnNewer()
	if err != nil || len(steps) == 0 {
		return err
	}
	progress := s.newMeter(steps[0].Store+" brought up", int64(len(steps)))
	defer progress.end()
	migrator.Report = func(done, _ int, _ upkeep.Step) { progress.reach(int64(done)) }
	return migrator.Migrate(ctx, need, steps)
}

// away reports whether an error is of a store that cannot be reached, and not its answer.
func away(err error) bool {
	_, failed := errors.AsType[net.Error](err)
	return failed || postgres.Unreached(err) || clickhouse.Unreached(err) || errors.Is(err, context.DeadlineExceeded)
}
