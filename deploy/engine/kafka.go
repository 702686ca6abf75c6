package engine

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// KafkaConfig says where the embedded broker keeps its log and listens.
type KafkaConfig struct {
	Dir    string // everything it keeps; created
	Port   int    // 0 chooses a free one, kept across restarts
	NoSync bool   // tests only: produced batches are not synced to the disk
	Log    *slog.Logger
}

// Kafka is the embedded broker. It runs in this process: it dies with it, and
// after a crash its directory is read again.
type Kafka struct {
	cluster *kfake.Cluster
	address string
	once    sync.Once
	done    chan struct{}
}

// StartKafka starts the embedded broker of a directory. It has one broker and
// makes no topic by itself; every acknowledged record is on the disk.
func StartKafka(_ context.Context, cfg KafkaConfig) (*Kafka, error) {
	begin := time.Now()
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	port, err := keptPort(cfg.Dir, "kafka", cfg.Port)
	if err != nil {
		return nil, err
	}
	options := []kfake.Opt{
		kfake.Ports(port),
		kfake.DataDir(filepath.Join(cfg.Dir, "data")),
		kfake.WithLogger(kafkaLog{cfg.Log}),
	}
	if !cfg.NoSync {
		options = append(options, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	cfg.Log.Info("engine ready", "engine", "kafka", "address", address(port), "took", time.Since(begin).Round(time.Millisecond))
	return &Kafka{cluster: cluster, address: address(port), done: make(chan struct{})}, nil
}

// Brokers are the addresses to bootstrap from.
func (k *Kafka) Brokers() []string { return []string{k.address} }

// Stop closes the broker; a Kafka started again on the same Dir has the same
// address, topics, records and committed offsets.
func (k *Kafka) Stop(context.Context) error {
	k.once.Do(func() {
		k.cluster.Close()
		close(k.done)
	})
	return nil
}

// Done is closed when the broker was stopped; it does not end by itself.
func (k *Kafka) Done() <-chan struct{} { return k.done }

// Err is nil: the broker ends only by Stop.
func (k *Kafka) Err() error { return nil }

// kafkaLog passes on what the broker says of failures and drops the rest, which
// is a line a request.
type kafkaLog struct{ log *slog.Logger }

func (l kafkaLog) Logf(level kfake.LogLevel, format string, args ...any) {
	if level <= kfake.LogLevelError {
		l.log.Error("embedded kafka", "detail", fmt.Sprintf(format, args...))
	}
}
