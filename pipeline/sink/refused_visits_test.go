package sink_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

func (w *world) loggedVisits(t *testing.T, s *sink.Visits, first int64, records ...*event.Visit) *consume.Batch[sink.Visit] {
	t.Helper()
	values := func(offset int64) []byte {
		value, err := event.EncodeVisit(nil, records[offset-first])
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	b := &consume.Batch[sink.Visit]{Topic: w.topic, First: first, Last: first + int64(len(records)) - 1}
	b.FetchAll = func(_ context.Context, offsets []int64) ([]*consume.Record, error) {
		var all []*consume.Record
		for _, offset := range offsets {
			all = append(all, &consume.Record{Topic: w.topic, Offset: offset, Time: day, Value: values(offset)})
		}
		return all, nil
	}
	for i := range records {
		item, _, err := s.Read(s.Version(), consume.Record{Topic: w.topic, Offset: first + int64(i), Value: values(first + int64(i)), Time: day})
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	return b
}

// A refused visit is forgotten, so that its replay is not taken for a repetition: by
// the sink that refused it, and by another.
func TestARefusedVisitIsCountedWhenItIsReplayed(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"visits", "visit_daily"} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %v", below, restarted), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil, 0)
				s := w.visitSink(t, 10)
				var all, refused []*event.Visit
				for n := range 12 {
					v := visit(lumen, n)
					if n%5 == 1 {
						v.Platform = "poison"
						refused = append(refused, v, v)
					}
					all = append(all, v)
				}
				mend := w.refuse(t, below, poisoned)
				for _, first := range []int64{0, 12} { // a producer tells all again
					if err := s.Land(t.Context(), w.loggedVisits(t, s, first, all...), ours); err != nil {
						t.Fatal(err)
					}
				}
				if n := w.reconcile(t); n != 6 {
					t.Errorf("%d suspects, want 6: three that were told twice", n)
				}
				w.wantVisits(t, 9)
				mend()
				if restarted {
					s = w.visitSink(t, 10)
				}
				if err := s.Land(t.Context(), w.loggedVisits(t, s, 24, refused...), ours); err != nil {
					t.Fatal(err)
				}
				w.wantVisits(t, 12)
				w.noProbes(t)
			})
		}
	}
}
