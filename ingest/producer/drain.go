package producer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/answerscope/answerscope/ingest/producer/spool"
)

// drain sends what is in the spool, in the order of each partition, beside what is
// appended meanwhile. Its state belongs to whoever calls run and finish.
type drain struct {
	*spill
	rows    map[spool.Stream]*row
	under   int // requests under way
	results chan drained
	stuck   pace // what cannot be read
}

// row is what drain knows of a lane.
type row struct {
	busy  bool
	due   time.Time
	pause *backoff.ExponentialBackOff
	alone bool // entries go one at a time, since a request failed
}

// drained is how a request ended.
type drained struct {
	lane spool.Stream
	refs []spool.Ref
	err  error
}

// width is how many requests of the spool are under way at once, each with up to a
// batch in memory: what is appended meanwhile comes first.
const width = 2

func newDrain(s *spill) *drain {
	return &drain{spill: s, rows: map[spool.Stream]*row{}, results: make(chan drained)}
}

// run goes on until ctx ends.
func (d *drain) run(ctx context.Context) {
	for {
		due := d.begin()
		select {
		case <-ctx.Done():
			return
		case <-d.disk.Changed():
		case <-due:
		case r := <-d.results:
			d.end(r)
		}
	}
}

// finish goes on while requests succeed, AckTimeout at most, and returns when nothing
// is under way.
func (d *drain) finish() {
	over := d.p.deadline()
	well := true
	for _, r := range d.rows {
		well = well && !r.alone // Kafka is away already: nobody is to wait for that
	}
	for {
		if well && time.Now().Before(over) {
			d.begin()
		}
		if d.under == 0 {
			return
		}
		r := <-d.results
		d.end(r)
		well = well && r.err == nil
	}
}

// begin starts requests of senders that are due, those with the oldest entries first,
// and tells when the next lane is due.
func (d *drain) begin() <-chan time.Time {
	wait := time.Duration(-1)
	now := time.Now()
	for _, lane := range d.disk.Streams() {
		if d.under == width {
			return nil
		}
		r := d.rows[lane]
		if r == nil {
			r = &row{pause: newPause()}
			d.rows[lane] = r
		}
		left := r.due.Sub(now)
		switch {
		case r.busy:
		case left > 0:
			if wait < 0 || left < wait {
				wait = left
			}
		case lane.Partition <= later:
			if !d.place(lane) {
				r.due = now.Add(unknownPause)
				wait = unknownPause
			}
		case lane.Partition >= 0 && d.disk.Pending(spool.Stream{Topic: lane.Topic, Partition: byKey}) > 0:
			// Some of those may come before.
		default:
			d.start(lane, r)
		}
	}
	if wait < 0 {
		return nil
	}
	return time.After(wait)
}

// unknownPause is how often drain looks whether a topic's partitions are known.
const unknownPause = 50 * time.Millisecond

// place gives entries that were never sent their partition; false when it is not known yet.
func (d *drain) place(lane spool.Stream) bool {
	t := d.known(lane.Topic)
	if t == nil {
		return false
	}
	d.disk.Move(lane, spool.Stream{Topic: lane.Topic, Partition: (later - lane.Partition) % int32(len(t.ids))})
	return true
}

// known is a topic whose partitions are known, or nil while they are looked up.
func (d *drain) known(name string) *topic {
	t, err := d.p.topic(name)
	if err != nil {
		return nil
	}
	select {
	case <-t.known:
	default:
		return nil
	}
	if t.err != nil {
		return nil
	}
	return t
}

func (d *drain) start(lane spool.Stream, r *row) {
	records := d.p.cfg.MaxBatchRecords
	if r.alone {
		records = 1
	}
	refs := d.disk.Next(lane, d.p.cfg.MaxBatchBytes, records)
	if len(refs) == 0 {
		return
	}
	r.busy = true
	d.under++
	go func() { d.results <- drained{lane, refs, d.send(lane, refs)} }()
}

// end takes note of how a request ended.
func (d *drain) end(r drained) {
	d.under--
	row := d.rows[r.lane]
	row.busy = false
	switch {
	case r.err == nil:
		row.alone = false
		row.pause.Reset()
		if d.disk.Pending(r.lane) == 0 {
			delete(d.rows, r.lane)
		}
		if d.disk.Records() == 0 {
			d.p.log.Info("spool is empty again", "dir", d.cfg.Dir)
		}
	case refusedRecord(r.err) && len(r.refs) > 1:
		row.alone = true
	default:
		row.alone = true
		row.due = time.Now().Add(row.pause.NextBackOff())
	}
}

func newPause() *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff() // with jitter
	pause.InitialInterval = 20 * time.Millisecond
	pause.MaxInterval = 500 * time.Millisecond
	pause.Reset()
	return pause
}

// send brings entries to the log and strikes them off.
func (d *drain) send(lane spool.Stream, refs []spool.Ref) error {
	parts, err := d.read(lane, refs)
	if err != nil {
		return err
	}
	name := d.p.cfg.Prefix + lane.Topic
	for _, part := range parts {
		appended := len(part.ends)
		err = d.produce(name, part.partition, part.batch)
		if refusedRecord(err) && len(refs) == 1 {
			appended, err = d.oneByOne(name, part, refs[0], err)
		}
		if err != nil {
			d.p.log.Debug("kafka did not take spooled records", "topic", name, "partition", part.partition, "error", err)
			return err
		}
		d.p.metrics.records.WithLabelValues(name).Add(float64(appended))
		d.p.metrics.bytes.WithLabelValues(name).Add(float64(len(part.data)))
	}
	d.disk.Remove(refs...)
	for _, part := range parts {
		d.metrics.drained.Add(float64(len(part.ends)))
		d.p.recovered(lane.Topic, part.partition)
	}
	return nil
}

func (d *drain) produce(name string, partition int, b *batch) error {
	return d.p.attempt(d.p.deadline(), func(ctx context.Context) error { return d.p.produce(ctx, name, partition, b) })
}

// part is what of some entries goes to one partition.
type part struct {
	partition int
	*batch
}

// read reads entries, and parts them by partition where they were kept without.
func (d *drain) read(lane spool.Stream, refs []spool.Ref) ([]part, error) {
	var parts []part
	to := func(partition int) *batch {
		for _, p := range parts {
			if p.partition == partition {
				return p.batch
			}
		}
		parts = append(parts, part{partition, &batch{}})
		return parts[len(parts)-1].batch
	}
	partition := func([]byte) int { return int(lane.Partition) }
	if lane.Partition == byKey {
		t := d.known(lane.Topic)
		if t == nil {
			return nil, fmt.Errorf("%w: partitions of %s are not known yet", ErrAway, lane.Topic)
		}
		partition = func(key []byte) int { return Partition(key, t.ids) }
	}
	var buffer []byte
	for _, ref := range refs {
		e, err := d.disk.Read(ref, buffer)
		if err == nil {
			err = parse(e.Body, func(key, value []byte) { to(partition(key)).add(key, value) })
			buffer = e.Body
		}
		if err != nil {
			return nil, d.unreadable(ref, err)
		}
	}
	return parts, nil
}

// unreadable puts aside what the disk gives back otherwise than it got it.
func (d *drain) unreadable(ref spool.Ref, cause error) error {
	name, err := d.disk.Quarantine(ref, "damaged")
	if err != nil {
		d.metrics.errors.Inc()
		if d.stuck.due() {
			d.p.log.Error("spooled records cannot be read", "dir", d.cfg.Dir, "error", errors.Join(cause, err),
				"next", "look at the disk; they are tried again until it gives them back, and what is behind them waits")
		}
		return errors.Join(cause, err)
	}
	d.metrics.quarantined.Inc()
	d.p.log.Error("spooled records are damaged and were put aside", "records", ref.Records(), "quarantine", name, "error", cause,
		"next", "look at the disk and the file system; the bytes are kept in the file that aside names")
	return cause
}

// oneByOne finds the records that the broker refused the only entry of a request
// for: the others are sent, and the entry is kept aside.
func (d *drain) oneByOne(name string, all part, ref spool.Ref, cause error) (appended int, err error) {
	begin := 0
	for _, end := range all.ends {
		one := &batch{}
		key := all.data[begin:end.key]
		if !end.keyed {
			key = nil
		}
		one.add(key, all.data[end.key:end.value])
		begin = end.value
		err := d.produce(name, all.partition, one)
		switch {
		case err == nil:
			appended++
		case !refusedRecord(err):
			return appended, err
		}
	}
	if appended == len(all.ends) { // together they were too large
		return appended, nil
	}
	file, err := d.disk.Copy(ref, "refused")
	if err != nil {
		return appended, err
	}
	d.metrics.quarantined.Inc()
	d.p.log.Error("kafka refuses spooled records for ever", "topic", name, "partition", all.partition, "records", len(all.ends)-appended, "of", len(all.ends), "quarantine", file, "error", cause,
		"next", "compare the topic's limits with those that migrate sets; the batch with these records is kept in the file that aside names")
	return appended, nil
}
