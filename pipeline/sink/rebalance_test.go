package sink_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// undead hangs in its first batch, hears neither that the partition was taken from it
// nor that it should ask, and sends the batch in the end.
type undead struct {
	consume.Target[sink.Answer]
	begun          atomic.Bool
	entered, leave chan struct{}
	landed         chan error
}

func (u *undead) Land(ctx context.Context, b *consume.Batch[sink.Answer], ours func() error) error {
	if !u.begun.CompareAndSwap(false, true) {
		return u.Target.Land(ctx, b, ours)
	}
	close(u.entered)
	<-u.leave
	err := u.Target.Land(context.WithoutCancel(ctx), b, func() error { return nil })
	u.landed <- err
	return err
}

// A consumer that hangs after its plan loses its partition, another lands the planned
// batch and goes on, and then the first one sends it too: same token, same rows.
func TestAConsumerThatWasReplacedAddsNothing(t *testing.T) {
	t.Parallel()
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers, 1)
		w.governed(t)
		w.tell(t, answers(t, 0, 20)...)
		w.tell(t, encoded(t, reread(answer(3), 2)), encoded(t, reread(answer(4), 2)))
		hung := &undead{Target: w.sink(t), entered: make(chan struct{}), leave: make(chan struct{}), landed: make(chan error, 1)}
		w.consume(t, hung, consume.Limits{Records: 100, Bytes: 1 << 20, Linger: small.Linger}, func(*consume.Consumer[sink.Answer]) bool {
			<-hung.entered
			w.consume(t, w.sink(t), small, w.landed(t, 21)) // whatever its limits are, the planned batch is landed as it was
			w.tell(t, answers(t, 20, 30)...)
			w.consume(t, w.sink(t), small, w.landed(t, 31))
			close(hung.leave)
			if err := <-hung.landed; err != nil {
				t.Error(err)
			}
			return true
		})
		if n := w.number(t, "SELECT count() FROM answers"); n != 34 {
			t.Errorf("%d rows, want 30 tellings and two corrections of two rows", n)
		}
		for _, question := range []string{"SELECT toUInt64(sum(sign)) FROM answers", "SELECT toUInt64(sum(answers)) FROM answer_daily", "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily", "SELECT toUInt64(sum(sign)) FROM citations", "SELECT toUInt64(sum(citations)) FROM citation_daily", "SELECT toUInt64(sum(sign)) FROM shopping_cards"} {
			if n := w.number(t, question); n != 30 {
				t.Errorf("%s: %d, want 30", question, n)
			}
		}
	})
}
