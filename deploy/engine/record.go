package engine

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// record is what the owner of a data directory writes down for those who join.
// It is believed only while the lock is held: a killed owner leaves it behind.
type record struct {
	Session   string `json:"session"` // differs each time that engines are started
	PID       int    `json:"pid"`
	Owner     string `json:"owner"`
	Exclusive bool   `json:"exclusive"`
	Address   string `json:"address,omitempty"`

	ClickHouse     string   `json:"clickhouse,omitempty"`
	ClickHouseHTTP string   `json:"clickhouse_http,omitempty"`
	Postgres       string   `json:"postgres,omitempty"`
	Kafka          []string `json:"kafka,omitempty"`
}

func newRecord(o Options) record {
	return record{Session: rand.Text(), PID: os.Getpid(), Owner: o.Owner, Exclusive: o.Exclusive, Address: o.Address}
}

// has says whether every engine that is needed runs.
func (r record) has(o Options) bool {
	return (!o.ClickHouse || r.ClickHouse != "") && (!o.Postgres || r.Postgres != "") && (!o.Kafka || len(r.Kafka) > 0)
}

// alive says whether the owner's process is there. The lock alone does not say who
// has it: one who joined takes it for a moment to see that the owner is gone.
func (r record) alive() bool {
	return r.Session != "" && !errors.Is(syscall.Kill(r.PID, 0), syscall.ESRCH)
}

func recordPath(dir string) string { return filepath.Join(dir, "engines.json") }

// readRecord returns the zero record when there is none.
func readRecord(dir string) (record, error) {
	var r record
	err := readJSON(recordPath(dir), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	return r, err
}

func writeRecord(dir string, r record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", recordPath(dir), err)
	}
	if err := replaceFile(recordPath(dir), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", recordPath(dir), err)
	}
	return nil
}

func removeRecord(dir string) error {
	if err := os.Remove(recordPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
