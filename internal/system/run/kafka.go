package run

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
)

// An OwnKafka is a broker of one test, which stops it and starts it again.
type OwnKafka struct {
	kind    string // kafka or apache
	Dir     string // of the test, where the broker has a directory of its own
	Brokers []string
	stop    func(context.Context) error // nil: it is stopped
}

// NewOwnKafka starts a broker of a kind, kafka or apache.
func NewOwnKafka(t *testing.T, kind string) *OwnKafka {
	t.Helper()
	k := &OwnKafka{kind: kind, Dir: filepath.Dir(DataDir(t))}
	k.StartKafka(t)
	t.Cleanup(func() { k.StopKafka(t) })
	return k
}

// StartKafka starts the broker, or starts it again with what it held, at the same address.
func (k *OwnKafka) StartKafka(t *testing.T) {
	t.Helper()
	if k.stop != nil {
		return
	}
	ctx, quiet := context.WithoutCancel(t.Context()), slog.New(slog.DiscardHandler)
	if k.kind == "kafka" {
		broker, err := engine.StartKafka(ctx, engine.KafkaConfig{
			Dir: filepath.Join(k.Dir, "kafka"), NoPassword: true, Log: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		k.Brokers, k.stop = broker.Brokers(), broker.Stop
		return
	}
	broker, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{
		Dir: filepath.Join(k.Dir, "apache"), Log: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Brokers, k.stop = broker.Brokers(), broker.Stop
}

// StopKafka stops the broker, if it runs.
func (k *OwnKafka) StopKafka(t *testing.T) {
	t.Helper()
	if k.stop == nil {
		return
	}
	if err := k.stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	k.stop = nil
}
