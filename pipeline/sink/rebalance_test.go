package sink_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// hanging hangs in its first batch, ignores that its context has ended and that it should call checkOwnership, and
// inserts the batch in the end.
type hanging struct {
	consume.Target[sink.Answer]
	begun          atomic.Bool
	entered, leave chan struct{}
	landed         chan error
}

func (h *hanging) Insert(ctx context.Context, b *consume.Batch[sink.Answer], checkOwnership func() error) error {
	if !h.begun.CompareAndSwap(false, true) {
		return h.Target.Insert(ctx, b, checkOwnership)
	}
	close(h.entered)
	<-h.leave
	err := h.Target.Insert(context.WithoutCancel(ctx), b, isOwner)
	h.landed <- err
	return err
}

// A consumer that hangs after its plan loses its partition, another lands the planned batch and goes on, and then the
// first one inserts it too: same token, same rows.
func TestAConsumerThatWasReplacedAddsNothing(t *testing.T) {
	t.Parallel()
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newEnvironment(t, brokers, 1)
		w.withControlPlane(t)
		w.append(t, answers(t, 0, 20)...)
		w.append(t, encoded(t, reread(answer(3), 2)), encoded(t, reread(answer(4), 2)))
		hung := &hanging{Target: w.sink(t), entered: make(chan struct{}), leave: make(chan struct{}),
			landed: make(chan error, 1)}
		w.consume(t, hung, consume.Limits{Records: 100, Bytes: 1 << 20, Linger: small.Linger},
			func(*consume.Consumer[sink.Answer]) bool {
				<-hung.entered
				// whatever its limits are, the planned batch is landed as it was
				w.consume(t, w.sink(t), small, w.landed(21))
				w.append(t, answers(t, 20, 30)...)
				w.consume(t, w.sink(t), small, w.landed(31))
				close(hung.leave)
				if err := <-hung.landed; err != nil {
					t.Error(err)
				}
				return true
			})
		if n := w.number(t, "SELECT count() FROM answers"); n != 34 {
			t.Errorf("%d rows, want 30 answers and two corrections of two rows", n)
		}
		w.wantNumbers(t, 30, map[string]string{
			"answers":             "SELECT toUInt64(sum(sign)) FROM answers",
			"answer_daily":        "SELECT toUInt64(sum(answers)) FROM answer_daily",
			"entity_prompt_daily": "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily",
			"citations":           "SELECT toUInt64(sum(sign)) FROM citations",
			"citation_daily":      "SELECT toUInt64(sum(citations)) FROM citation_daily",
			"shopping_cards":      "SELECT toUInt64(sum(sign)) FROM shopping_cards",
		})
	})
}
