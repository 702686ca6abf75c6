package consume

import (
	"context"
	"fmt"
	"time"
)

// A StoppedError is the reason why a partition waits for an operator. The other partitions go on.
type StoppedError struct {
	Topic     string
	Partition int32
	Reason    string
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("partition %s/%d stopped: %s", e.Topic, e.Partition, e.Reason)
}

// startPoint is the offset that a partition is read from, and the plan of the batch that must be landed first.
type startPoint struct {
	next int64
	plan *Plan
}

// state has the offsets of a partition in the group, the log and the target when it is assigned.
type state struct {
	committed int64  // by the group; -1: nothing
	metadata  string // of that commit
	first     int64  // of the log
	end       int64  // of the log: the offset after its last
	landed    int64  // in the target: its largest offset
	hasLanded bool
}

// decide chooses the start point, or gives the reason to stop. It never starts over: a log that lacks records which it
// should have stops the partition, since reading on would lose records or count others in their place.
func decide(s state) (at startPoint, stop string) {
	switch {
	case s.committed > s.end, s.hasLanded && s.landed >= s.end:
		return at, fmt.Sprintf("the log was replaced: it ends at %d, but offset %d is committed and %d has landed; "+
			"a replaced log needs a new topic prefix", s.end, s.committed, s.landed)
	case s.committed < 0 && s.hasLanded:
		s.committed = s.landed + 1
	case s.committed < 0:
		s.committed = s.first // nothing was ever read here
	}
	if s.first > s.committed {
		return at, fmt.Sprintf("records expired unread: %d to %d are gone from the log; "+
			"to go on without them, set the group's offset to %d", s.committed, s.first-1, s.first)
	}
	plan, err := readPlan(s.committed, s.metadata)
	if err != nil {
		return at, err.Error()
	}
	// Batches land in order, so nothing beyond the open plan can have landed, and without one nothing at or beyond the
	// commit. Batches cut anew over landed rows would have other tokens and count them twice.
	last := Position{Committed: s.committed, Plan: plan}.Last()
	if s.hasLanded && s.landed > last {
		return at, fmt.Sprintf("the group's offset went back to %d, but offset %d has landed; set it to %d",
			s.committed, s.landed, s.landed+1)
	}
	if plan != nil && plan.Last >= s.end {
		return at, fmt.Sprintf("the planned batch %d to %d is not whole in the log, which ends at %d",
			s.committed, plan.Last, s.end)
	}
	return startPoint{s.committed, plan}, ""
}

// start reads the state and decides.
func (p *partition[T]) start(ctx context.Context) (at startPoint, err error) {
	var s state
	if s.committed, s.metadata, err = p.offsets.committed(ctx); err != nil {
		return at, err
	}
	if s.first, s.end, err = p.offsets.bounds(ctx); err != nil {
		return at, err
	}
	if s.committed >= 0 {
		p.consumer.health.setNext(p.id, s.committed, time.Time{}) // the lag shows even while the target is away
	}
	if s.landed, s.hasLanded, err = p.consumer.target.LastOffset(ctx, p.consumer.cfg.Topic, p.id); err != nil {
		return at, err
	}
	if s.committed < 0 && !s.hasLanded && s.first > 0 {
		p.log.Warn("earlier records expired before this group first read", "first", s.first,
			"next", "nothing, if the topic is older than this installation; else import them again")
	}
	at, reason := decide(s)
	if reason != "" {
		return at, p.stopped("%s", reason)
	}
	// While shards are added, another process that has their addresses may have planned the batch: this one waits until
	// it loses the partition, or is restarted.
	if plan, shards := at.plan, p.consumer.cfg.Shards; plan != nil && (plan.Shard < 0 || plan.Shard >= shards) {
		return at, fmt.Errorf("batch %d to %d was planned for shard %d, and there are %d, counted from 0",
			at.next, plan.Last, plan.Shard, shards)
	}
	p.consumer.health.setNext(p.id, at.next, time.Time{})
	return at, nil
}
