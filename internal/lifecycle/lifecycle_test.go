package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

func TestAllStopsLastToFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var stopped []string
		part := func(name string) lifecycle.Part {
			return lifecycle.Part{Name: name, Run: func(ctx context.Context) error {
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				stopped = append(stopped, name)
				return nil
			}}
		}
		result := make(chan error, 1)
		go func() {
			result <- lifecycle.All(ctx, slog.New(slog.DiscardHandler), part("producer"), part("listener"))
		}()
		synctest.Wait()
		cancel()
		if err := <-result; err != nil {
			t.Fatalf("All() = %v, want nil", err)
		}
		if want := []string{"listener", "producer"}; !slices.Equal(stopped, want) {
			t.Errorf("stopped %v, want %v", stopped, want)
		}
	})
}

// If an All runs in a part of another one, only the outer one logs why all parts stop.
func TestAStopIsLoggedOnce(t *testing.T) {
	var log logbuffer.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	waiting := lifecycle.Part{Name: "listener", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	err := lifecycle.All(ctx, logger, lifecycle.Part{Name: "service", Run: func(ctx context.Context) error {
		return lifecycle.All(ctx, logger, waiting)
	}})
	if lines := log.String(); err != nil || strings.Count(lines, "stopping") != 1 ||
		!strings.Contains(lines, "interrupt signal received") {
		t.Errorf("All() = %v, and logged\n%s", err, lines)
	}
}

func TestAllReturnsTheFailure(t *testing.T) {
	errDisk := errors.New("disk full")
	err := lifecycle.All(t.Context(), slog.New(slog.DiscardHandler),
		lifecycle.Part{Name: "sink", Run: func(context.Context) error { return errDisk }},
		lifecycle.Part{Name: "listener", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }},
	)
	if !errors.Is(err, errDisk) || err.Error() != "sink: disk full" {
		t.Errorf("All() = %v, want sink: disk full", err)
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	if err := lifecycle.Pause(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("a pause to its end: %v", err)
	}
	why := errors.New("the server is going away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := lifecycle.Pause(ctx, time.Hour); !errors.Is(err, why) {
		t.Errorf("a pause in vain: %v, want %v", err, why)
	}
}

func TestWorkMayFinishForAWhileAfterItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		finishing, release := lifecycle.Finishing(ctx, time.Second)
		defer release()
		cancel()
		<-time.After(time.Second - time.Nanosecond)
		if err := finishing.Err(); err != nil {
			t.Errorf("within the second: %v", err)
		}
		<-time.After(time.Nanosecond)
		synctest.Wait()
		if finishing.Err() == nil {
			t.Error("after the second it goes on")
		}
	})
}

func TestRetryUntilSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedule := lifecycle.Backoff{First: time.Second, Max: 4 * time.Second}
		var waits []time.Duration
		attempts := 0
		err := lifecycle.Retry(t.Context(), schedule, nil, func(_ error, wait time.Duration) {
			waits = append(waits, wait)
		},
			func(context.Context) error {
				if attempts++; attempts <= 5 {
					return errors.New("away")
				}
				return nil
			})
		if err != nil || attempts != 6 || len(waits) != 5 {
			t.Fatalf("Retry() = %v after %d attempts and waits of %v", err, attempts, waits)
		}
		for i, mean := range []time.Duration{
			time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second,
		} {
			if waits[i] < mean/2 || waits[i] > mean*3/2 {
				t.Errorf("wait %d of %v, want %v and at most half of it more or less", i, waits[i], mean)
			}
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	away, final, stopping := errors.New("away"), errors.New("refused"), errors.New("stopping")
	retryable := func(err error) bool { return !errors.Is(err, final) }
	second := lifecycle.Backoff{First: time.Second, Max: time.Second}
	for _, c := range []struct {
		name     string
		schedule lifecycle.Backoff
		errs     []error // of the attempts; the last one of all further ones
		want     error
	}{
		{"at an error that is final", second, []error{away, final}, final},
		{"after the total time", lifecycle.Backoff{First: time.Second, Max: time.Second, Total: 5 * time.Second},
			[]error{away}, away},
		{"with its context, in a wait", second, []error{away}, stopping},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(stopping) })
				attempts := 0
				err := lifecycle.Retry(ctx, c.schedule, retryable, nil, func(context.Context) error {
					attempts++
					return c.errs[min(attempts, len(c.errs))-1]
				})
				if !errors.Is(err, c.want) {
					t.Errorf("Retry() = %v after %d attempts, want %v", err, attempts, c.want)
				}
			})
		})
	}
}
