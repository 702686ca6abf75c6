package producer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/fault"
)

// deliver sends a batch to one partition until that acknowledges or refuses it,
// or until the batch's deadline. late is called before the second attempt.
func (p *Producer) deliver(topic string, partition int, b *batch, late func()) error {
	p.metrics.inFlight.Inc()
	defer p.metrics.inFlight.Dec()
	begin := time.Now()
	attempts := 0
	err := p.persist(topic, b.deadline, func(ctx context.Context) error {
		if attempts++; attempts == 2 {
			late()
		}
		return p.produce(ctx, topic, partition, b)
	}, func() { p.metrics.retries.WithLabelValues(topic).Inc() })
	p.metrics.seconds.WithLabelValues(topic).Observe(time.Since(begin).Seconds())
	if err != nil {
		return fmt.Errorf("append batch of %d to %s/%d: %w", len(b.ends), topic, partition, err)
	}
	if attempts > 1 {
		p.log.Warn("batch was sent more than once", "topic", topic, "partition", partition, "records", len(b.ends), "attempts", attempts,
			"next", "nothing: readers count an id once; if it goes on, look at the brokers")
	}
	return nil
}

func (p *Producer) produce(ctx context.Context, topic string, partition int, b *batch) error {
	res, err := p.client.Produce(ctx, &kafka.ProduceRequest{
		Topic:        topic,
		Partition:    partition,
		RequiredAcks: kafka.RequireAll,
		Compression:  kafka.Lz4,
		Records:      &records{batch: b},
	})
	if err == nil {
		err = res.Error
	}
	if err == nil {
		fault.Pass(fault.Produced)
	}
	return err
}

func (p *Producer) deadline() time.Time { return time.Now().Add(p.cfg.AckTimeout) }

// persist calls attempt until it succeeds, is refused, or the deadline comes:
// then the error is ErrAway with the last cause. again is called before each
// attempt after the first.
func (p *Producer) persist(topic string, deadline time.Time, attempt func(context.Context) error, again func()) error {
	pause := backoff.NewExponentialBackOff() // with jitter
	pause.InitialInterval = 20 * time.Millisecond
	pause.MaxInterval = 500 * time.Millisecond
	pause.Reset()
	var last error
	for {
		if time.Until(deadline) <= 0 {
			if last == nil {
				last = errors.New("waited too long for what was before it")
			}
			return fmt.Errorf("%w: %w", ErrAway, last)
		}
		if last != nil {
			again()
		}
		if last = p.attempt(deadline, attempt); last == nil {
			return nil
		}
		if refused(last) {
			return last
		}
		p.log.Debug("kafka did not answer well", "topic", topic, "error", last)
		time.Sleep(min(pause.NextBackOff(), max(0, time.Until(deadline))))
	}
}

func (p *Producer) attempt(deadline time.Time, attempt func(context.Context) error) error {
	ctx, cancel := context.WithDeadline(context.Background(), earlier(deadline, time.Now().Add(p.cfg.AttemptTimeout)))
	defer cancel()
	return attempt(ctx)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// refused reports whether trying again can change nothing. Whatever the broker
// does not name as a refusal for good may be a restart, an election or a broken
// line, also a topic that it does not know yet.
func refused(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && !code.Temporary()
}

// reason is a word for err, for the metrics.
func reason(err error) string {
	switch {
	case errors.Is(err, ErrTooLarge):
		return "too_large"
	case errors.Is(err, ErrOverloaded):
		return "overloaded"
	case errors.Is(err, ErrAway):
		return "away"
	case errors.Is(err, ErrStopped):
		return "stopped"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "given_up"
	}
	return "refused"
}
