package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/answerscope/answerscope/internal/disk"
)

// owner is the file engines.json of a data directory: which process runs the engines, and where they are, for those who
// join. It is valid only while the lock is held, since a killed owner leaves it behind.
type owner struct {
	Session   string `json:"session"` // differs each time that engines are started
	PID       int    `json:"pid"`
	Owner     string `json:"owner"`
	Exclusive bool   `json:"exclusive"`
	Address   string `json:"address,omitempty"`

	ClickHouse      string   `json:"clickhouse,omitempty"`
	ClickHouseHTTP  string   `json:"clickhouse_http,omitempty"`
	Postgres        string   `json:"postgres,omitempty"`
	PostgresService string   `json:"postgres_service,omitempty"`
	PostgresGateway string   `json:"postgres_gateway,omitempty"`
	Kafka           []string `json:"kafka,omitempty"`
	KafkaPassword   string   `json:"kafka_password,omitempty"`
}

// add sets the addresses of an engine.
func (o *owner) add(r running) {
	switch r := r.(type) {
	case *ClickHouse:
		o.ClickHouse, o.ClickHouseHTTP = r.DSN(), r.HTTPAddr()
	case *Postgres:
		o.Postgres, o.PostgresService, o.PostgresGateway = r.DSN(), r.ServiceDSN(), r.GatewayDSN()
	case *Kafka:
		o.Kafka, o.KafkaPassword = r.Brokers(), r.Password()
	}
}

// has says whether every engine that is needed runs.
func (o owner) has(needed Options) bool {
	return (!needed.ClickHouse || o.ClickHouse != "") && (!needed.Postgres || o.Postgres != "") && (!needed.Kafka || len(o.Kafka) > 0)
}

// alive says whether the owner's process exists. The lock alone does not say who
// has it: a process that joined takes it for a moment to see that the owner is gone.
func (o owner) alive() bool {
	return o.Session != "" && !errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH)
}

// Running says who runs engines on a data directory; nil when nobody does.
func Running(dir string) (*InUseError, error) {
	o, err := readOwner(dir)
	if err != nil || !o.alive() {
		return nil, err
	}
	l, err := tryLock(lockPath(dir))
	if l != nil {
		return nil, l.Close()
	}
	return &InUseError{DataDir: dir, Owner: o.Owner, PID: o.PID, Address: o.Address}, err
}

func ownerPath(dir string) string { return filepath.Join(dir, "engines.json") }

// readOwner returns the zero owner when there is none.
func readOwner(dir string) (owner, error) {
	var o owner
	err := readJSON(ownerPath(dir), &o)
	if errors.Is(err, fs.ErrNotExist) {
		return owner{}, nil
	}
	return o, err
}

func (o owner) write(dir string) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err == nil {
		err = disk.ReplaceFile(ownerPath(dir), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", ownerPath(dir), err)
	}
	return nil
}

func removeOwner(dir string) error {
	if err := os.Remove(ownerPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
