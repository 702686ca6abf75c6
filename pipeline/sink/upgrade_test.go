package sink_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// One build decodes a record that another one does not. Whichever was killed while it landed their batch, and wherever,
// the record is counted or is a dead letter, or both; the list has it once, and after its replay it is counted once.
func TestAnUpgradeThatReadsOtherRecordsLosesNone(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	cases := 0
	const steps = 2 // the dead letters, the rows
	for _, learned := range []bool{true, false} {
		for step := range steps + 1 {
			for i, odd := range []int{1, 3} { // alone in its month, and not
				if !testkit.All && step%2 != i {
					continue
				}
				t.Run(fmt.Sprintf("learned %v, killed before step %d, record %d", learned, step+1, odd),
					func(t *testing.T) {
						cases++
						w.topic = fmt.Sprintf("answers-%d", cases)
						brand := uuid.UUID{1, byte(cases)}
						answer := func(n int) *event.Answer {
							a := answer(n)
							a.Brand.ID = brand
							return a
						}
						s := w.sink(t)
						reads, other := w.logged(t, s, 0, answer(0), answer(1), answer(3), answer(6)),
							w.logged(t, s, 0, answer(0), answer(1), answer(3), answer(6))
						at := map[int]int{1: 1, 3: 2}[odd]
						dead, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Offset: int64(at),
							Value: []byte("odd"), Time: day})
						if err != nil {
							t.Fatal(err)
						}
						other.Items[at] = dead
						killed, next := other, reads
						if !learned {
							killed, next = reads, other
						}
						left := step
						err = s.Insert(t.Context(), killed, func() error {
							if left--; left < 0 {
								return errCrash
							}
							return nil
						})
						if err != nil && !errors.Is(err, errCrash) {
							t.Fatal(err)
						}
						if err != nil {
							if last, ok, err := s.LastOffset(t.Context(), w.topic, 0); ok || err != nil {
								t.Errorf("position %d, %v before any row has landed", last, err)
							}
						}
						if err := w.sink(t).Insert(t.Context(), next, isOwner); err != nil {
							t.Fatal(err)
						}
						counted := w.number(t, fmt.Sprintf("SELECT count() FROM answers WHERE brand_id = '%s' AND "+
							"log_offset = %d", brand, at))
						letters := len(w.letters(t))
						if counted > 1 || letters > 1 || counted+uint64(letters) == 0 {
							t.Errorf("counted %d times, %d dead letters", counted, letters)
						}
						if last, ok, err := s.LastOffset(t.Context(), w.topic, 0); last != 3 || !ok || err != nil {
							t.Errorf("position %d, %v, %v; want 3", last, ok, err)
						}
						if err := s.Insert(t.Context(), w.logged(t, s, 4, answer(odd)), isOwner); err != nil {
							t.Fatal(err)
						}
						w.wantEachOnceOf(t, 4, brand)
					})
			}
		}
	}
}
