package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/answerscope/answerscope/internal/disk"
)

// KafkaConfig configures the embedded broker.
type KafkaConfig struct {
	Dir        string // of all its files; created
	NoSync     bool   // tests only: batches are not synced to the disk
	NoPassword bool   // tests and benches only: anyone on this machine can log in
	Log        *slog.Logger
}

// KafkaUser is the only user of the embedded broker. It logs in with a password by the SASL mechanism KafkaMechanism.
const (
	KafkaUser      = "answerscope"
	KafkaMechanism = "scram-sha-256"
)

// Kafka is the embedded broker. It runs in this process, and reads its directory again after a crash.
type Kafka struct {
	cluster  *kfake.Cluster
	lock     *lock
	address  string
	password string
	once     sync.Once
}

// StartKafka starts the embedded broker of a directory. It creates no topic by itself; every acknowledged record is on
// the disk.
func StartKafka(ctx context.Context, cfg KafkaConfig) (*Kafka, error) {
	begin := time.Now()
	k, err := startKafka(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	logReady(cfg.Log, "kafka", k.address, begin)
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
	port, err := storedPort(loopback, cfg.Dir, "kafka", 0)
	if err != nil {
		return nil, err
	}
	password, err := storedPassword(cfg.Dir, "password")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(cfg.Dir, "data")
	// The broker would prefer the users that it had at its end: none, if an earlier release ended it.
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
	return &Kafka{cluster: cluster, lock: lock, address: address(loopback, port), password: password}, nil
}

// Brokers are the addresses to bootstrap from.
func (k *Kafka) Brokers() []string { return []string{k.address} }

// Password is the password of KafkaUser, in a file of the directory that only its owner can read.
func (k *Kafka) Password() string { return k.password }

// Stop closes the broker. A Kafka on the same Dir has the same address, topics, records and committed offsets again.
func (k *Kafka) Stop(context.Context) (err error) {
	k.once.Do(func() {
		k.cluster.Close()
		err = k.lock.Close()
	})
	return err
}

// kafkaLog logs the broker's failures, such as a full disk, and drops other messages, a line per request.
type kafkaLog struct{ log *slog.Logger }

func (l kafkaLog) Logf(level kfake.LogLevel, format string, args ...any) {
	if level <= kfake.LogLevelWarn {
		l.log.Warn("embedded kafka", "detail", fmt.Sprintf(format, args...),
			"next", "see whether the disk of the data directory is full or broken")
	}
}

// repairCommits removes incomplete entries from the embedded broker's file of commits. A full disk cuts an entry off,
// and the broker appends later entries behind it, but reads the file only up to the first incomplete one.
func repairCommits(path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("repair commits: %w", err)
	}
	complete := make([]byte, 0, len(raw))
	for rest := raw; len(rest) > 0; {
		size := entrySize(rest)
		complete = append(complete, rest[:size]...)
		rest = rest[max(size, 1):]
	}
	if len(complete) == len(raw) {
		return nil
	}
	return disk.ReplaceFile(path, complete, 0o600)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entrySize returns the size of the complete entry at the start of b, or 0: the length and the checksum of the content,
// four bytes each, then the content, which begins with a version of two bytes.
func entrySize(b []byte) int {
	if len(b) < 10 {
		return 0
	}
	size := 8 + int(binary.LittleEndian.Uint32(b))
	if size < 10 || size > len(b) || crc32.Checksum(b[8:size], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0
	}
	return size
}
