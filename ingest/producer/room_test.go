package producer

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// On a full disk a beacon is refused at once, and an import waits, says so, and goes on when there is room.
func TestAFullDiskRefusesOneAndKeepsManyWaiting(t *testing.T) {
	t.Parallel()
	brokers := testkit.Kafka(t)
	cfg := DefaultConfig()
	cfg.Brokers, cfg.Prefix = brokers, freshTopics(t, brokers, 2)
	var full atomic.Bool
	full.Store(true)
	cfg.Room = func() error {
		if full.Load() {
			return errors.New("disk of /data has 0 MB left")
		}
		return nil
	}
	var logged logbuffer.Buffer
	p, err := New(cfg, slog.New(slog.NewTextHandler(&logged, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer testkit.Start(t, p.Run)()
	if err := p.Append(t.Context(), event.TopicVisits, value(0)); !errors.Is(err, ErrNoRoom) ||
		!strings.Contains(err.Error(), "disk of /data") {
		t.Errorf("Append() = %v, want ErrNoRoom that names the disk", err)
	}
	appended := make(chan error, 1)
	go func() {
		_, err := p.AppendAll(t.Context(), event.TopicVisits, []Record{{Value: value(1)}})
		appended <- err
	}()
	wait.For(t, "a line that says what is waited for", func() bool {
		return strings.Contains(logged.String(),
			"disk of /data")
	})
	select {
	case err := <-appended:
		t.Errorf("AppendAll() = %v on a full disk", err)
	default:
	}
	full.Store(false)
	if err := <-appended; err != nil {
		t.Error(err)
	}
	if got := values(all(t, brokers, cfg.Prefix+event.TopicVisits)); len(got) != 1 || got[string(value(1))] != 1 {
		t.Errorf("the log has %v, want record 1 alone", got)
	}
}
