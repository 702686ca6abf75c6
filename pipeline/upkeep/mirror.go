package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	changesAtOnce   = 1000             // most that one copy takes
	postgresTimeout = 10 * time.Second // of one statement, and of one wait for a notification
	lockInterval    = time.Second      // between two tries of a standby to take the outbox's lock
)

// Mirror copies what people edit from Postgres to the dimension tables of ClickHouse, within a second. Of any number of
// mirrors one at a time copies; the others stand by.
//
// A change is deleted from the outbox only after its insert. A change that is copied twice makes two equal rows of one
// version, and only the newest version counts.
type Mirror struct {
	from    *postgres.DB
	to      *clickhouse.Conn
	timeout time.Duration
	copied  prometheus.Counter
	delay   prometheus.Histogram
	log     *slog.Logger
	failure atomic.Pointer[string] // error of the last attempt; nil if it succeeded
}

// NewMirror returns a Mirror without a connection.
func NewMirror(from *postgres.DB, to *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Mirror {
	register := promauto.With(registerer)
	return &Mirror{
		from: from, to: to, timeout: postgresTimeout, log: log,
		copied: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_mirror_changes_total",
			Help: "Changes of brands, competitors, prompts and topics copied to ClickHouse.",
		}),
		delay: register.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_mirror_delay_seconds", Help: "Seconds from a change to its copy.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}),
	}
}

// Run copies changes as they come until ctx is cancelled. While a store is away, changes wait in the outbox.
func (m *Mirror) Run(ctx context.Context) error {
	backoff := lifecycle.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}
	var s session
	defer m.close(&s)
	for ctx.Err() == nil {
		err := lifecycle.Retry(ctx, backoff, nil, m.interrupted, func(ctx context.Context) error {
			err := m.step(ctx, &s)
			if err != nil {
				m.close(&s)
			}
			return err
		})
		if err == nil {
			m.failure.Store(nil)
		}
	}
	return nil
}

func (m *Mirror) interrupted(err error, wait time.Duration) {
	cause := err.Error()
	m.failure.Store(&cause)
	m.log.Warn("mirror interrupted", "wait", wait, "cause", err,
		"next", "nothing for a minute; then see the engine that the cause names")
}

// Ready is nil unless the last attempt to copy, or to stand by, failed.
func (m *Mirror) Ready(context.Context) error {
	if cause := m.failure.Load(); cause != nil {
		return errors.New(*cause)
	}
	return nil
}

// session is a connection to the outbox, until an error.
type session struct {
	outbox *postgres.Outbox // nil before the first step
	locked bool             // this mirror copies; the others stand by
	idle   bool             // the last step found nothing to do
}

func (m *Mirror) close(s *session) {
	if s.outbox != nil {
		if err := s.outbox.Close(); err != nil {
			m.log.Warn("closing outbox", "cause", err, "next", "nothing: another one is opened")
		}
	}
	*s = session{}
}

// step waits if the last step found nothing to do, then copies once, with the lock. Only a copy or a standby is a
// success: a new connection is none, since ClickHouse may still be away.
func (m *Mirror) step(ctx context.Context, s *session) (err error) {
	switch {
	case s.outbox == nil:
		s.outbox, err = m.from.OpenOutbox(ctx, m.timeout)
	case s.idle && s.locked: // a lost connection stays silent: the next Read finds that out
		_, err = s.outbox.Wait(ctx, m.timeout)
	case s.idle:
		err = lifecycle.Pause(ctx, lockInterval)
	}
	if err != nil {
		return err
	}
	if !s.locked {
		s.locked, err = s.outbox.TryLock(ctx)
		s.idle = !s.locked
		if err != nil || !s.locked {
			return err
		}
		if err := m.fillShards(ctx); err != nil {
			return err
		}
	}
	copied, err := m.copyNext(ctx, s.outbox)
	s.idle = copied == 0
	return err
}

// fillShards copies to a new shard what a process without its address has copied to the others.
func (m *Mirror) fillShards(ctx context.Context) error {
	if m.to.Shards() == 1 {
		return nil
	}
	return m.to.EachShard(func(shard *clickhouse.Conn) error {
		return schema.FillDimensions(ctx, shard, shard.Cluster())
	})
}

// copyNext copies the first changes of the outbox and deletes them there.
func (m *Mirror) copyNext(ctx context.Context, outbox *postgres.Outbox) (copied int, err error) {
	changes, err := outbox.Read(ctx, changesAtOnce)
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	if err := m.insert(ctx, changes); err != nil {
		return 0, err
	}
	if err := outbox.Delete(ctx, changes); err != nil {
		return 0, err
	}
	for _, c := range changes {
		m.delay.Observe(time.Since(c.At).Seconds())
	}
	m.copied.Add(float64(len(changes)))
	return len(changes), nil
}

func (m *Mirror) insert(ctx context.Context, changes []postgres.Change) error {
	var rows dimensionRows
	for i := range changes {
		if err := rows.add(&changes[i]); err != nil {
			return err
		}
	}
	// Dimension tables have no deduplication window: the version of a row makes a second copy harmless.
	return errors.Join(
		clickhouse.DimensionBrands.Insert(ctx, m.to, "", rows.brands),
		clickhouse.DimensionCompetitors.Insert(ctx, m.to, "", rows.competitors),
		clickhouse.DimensionPrompts.Insert(ctx, m.to, "", rows.prompts),
		clickhouse.DimensionTopics.Insert(ctx, m.to, "", rows.topics),
	)
}

// dimensionRows has changes as rows of the dimension tables.
type dimensionRows struct {
	brands      []clickhouse.DimensionBrand
	competitors []clickhouse.DimensionCompetitor
	prompts     []clickhouse.DimensionPrompt
	topics      []clickhouse.DimensionTopic
}

func (r *dimensionRows) add(c *postgres.Change) error {
	organization, brand := clickhouse.UUID(c.OrganizationID), clickhouse.UUID(c.BrandID)
	id, version := clickhouse.UUID(c.RowID), uint64(c.ID)
	switch c.Kind {
	case "brand":
		r.brands = append(r.brands, clickhouse.DimensionBrand{
			OrganizationID: organization, ID: id,
			Name: c.Row.Name, Slug: c.Row.Slug, Aliases: c.Row.Aliases, Domains: c.Row.Domains,
			Industry: c.Row.Industry, Region: c.Row.Region, Language: c.Row.Language,
			Revision: c.Row.Revision, IsActive: c.Row.IsActive, Version: version, Deleted: c.Deleted,
		})
	case "competitor":
		r.competitors = append(r.competitors, clickhouse.DimensionCompetitor{
			OrganizationID: organization, BrandID: brand, ID: id,
			Name: c.Row.Name, Aliases: c.Row.Aliases, Domains: c.Row.Domains, Version: version, Deleted: c.Deleted,
		})
	case "prompt":
		r.prompts = append(r.prompts, clickhouse.DimensionPrompt{
			OrganizationID: organization, BrandID: brand, ID: id, TopicID: clickhouse.OrNil(c.Row.TopicID),
			Text: c.Row.Text, IsBranded: c.Row.IsBranded, IsActive: c.Row.IsActive,
			Version: version, Deleted: c.Deleted,
		})
	case "topic":
		r.topics = append(r.topics, clickhouse.DimensionTopic{
			OrganizationID: organization, BrandID: brand, ID: id,
			Name: c.Row.Name, IsActive: c.Row.IsActive, Version: version, Deleted: c.Deleted,
		})
	default:
		return fmt.Errorf("mirror change %d: unknown kind %q; upgrade this build", c.ID, c.Kind)
	}
	return nil
}
