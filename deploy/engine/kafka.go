package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// KafkaConfig says where the embedded broker keeps its log and listens.
type KafkaConfig struct {
	Dir        string // everything it keeps; created
	NoSync     bool   // tests only: produced batches are not synced to the disk
	NoPassword bool   // tests and benches only: anyone on this machine is let in
	Log        *slog.Logger
}

// KafkaUser is let in to the embedded broker with its password by KafkaMechanism, a mechanism of SASL. Nobody else is.
const (
	KafkaUser      = "answerscope"
	KafkaMechanism = "scram-sha-256"
)

// Kafka is the embedded broker. It runs in this process: it dies with it, and
// after a crash its directory is read again.
type Kafka struct {
	cluster  *kfake.Cluster
	lock     *lock
	address  string
	password string
	once     sync.Once
}

// StartKafka starts the embedded broker of a directory. It has one broker and
// makes no topic by itself; every acknowledged record is on the disk.
func StartKafka(ctx context.Context, cfg KafkaConfig) (*Kafka, error) {
	begin := time.Now()
	k, err := startKafka(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	cfg.Log.Info("engine ready", "engine", "kafka", "address", k.address, "took", time.Since(begin).Round(time.Millisecond))
	return k, nil
}

func startKafka(ctx context.Context, cfg KafkaConfig) (_ *Kafka, err error) {
	lock, err := lockDir(ctx, cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	port, err := keptPort(cfg.Dir, "kafka", 0)
	if err != nil {
		return nil, err
	}
	password, err := keptPassword(cfg.Dir, "password")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(cfg.Dir, "data")
	// The broker would prefer the users that it had when it was closed: none, if an earlier release closed it.
	if err := os.Remove(filepath.Join(data, "sasl.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := repairCommits(filepath.Join(data, "groups.log")); err != nil {
		return nil, err
	}
	options := []kfake.Opt{kfake.Ports(port), kfake.DataDir(data), kfake.WithLogger(kafkaLog{cfg.Log})}
	if !cfg.NoSync {
		options = append(options, kfake.SyncWrites())
	}
	if !cfg.NoPassword {
		options = append(options, kfake.ListenFn(listenForLogins),
			kfake.EnableSASL(), kfake.Superuser(strings.ToUpper(KafkaMechanism), KafkaUser, password))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, err
	}
	return &Kafka{cluster: cluster, lock: lock, address: address(port), password: password}, nil
}

// Brokers are the addresses to bootstrap from.
func (k *Kafka) Brokers() []string { return []string{k.address} }

// Password is that of KafkaUser. The directory keeps it, for its owner alone.
func (k *Kafka) Password() string { return k.password }

// Stop closes the broker; a Kafka started again on the same Dir has the same
// address, topics, records and committed offsets.
func (k *Kafka) Stop(context.Context) (err error) {
	k.once.Do(func() {
		k.cluster.Close()
		err = k.lock.Close()
	})
	return err
}

// kafkaLog logs the broker's failures, such as a full disk, and drops the rest, which is a line per request.
type kafkaLog struct{ log *slog.Logger }

func (l kafkaLog) Logf(level kfake.LogLevel, format string, args ...any) {
	if level <= kfake.LogLevelWarn {
		l.log.Warn("embedded kafka", "detail", fmt.Sprintf(format, args...), "next", "see whether the disk of the data directory is full or broken")
	}
}
