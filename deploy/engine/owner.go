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

// owner is the content of the file engines.json of a data directory: the process that runs the engines, and their
// addresses, for processes that join. It is valid only while the lock is held, since a killed owner leaves it behind.
type owner struct {
	Session   string `json:"session"` // differs for each start of engines
	PID       int    `json:"pid"`
	Owner     string `json:"owner"`
	Exclusive bool   `json:"exclusive"`
	Addresses
}

// Addresses has the addresses of engines, with credentials; empty for an engine that the command does not need.
type Addresses struct {
	Address string `json:"address,omitempty"` // of the owner's service; empty if it has none

	ClickHouse      string   `json:"clickhouse,omitempty"`       // native protocol
	ClickHouseHTTP  string   `json:"clickhouse_http,omitempty"`  // host:port
	Postgres        string   `json:"postgres,omitempty"`         // of a superuser
	PostgresService string   `json:"postgres_service,omitempty"` // of services, with the grants of the schema
	PostgresGateway string   `json:"postgres_gateway,omitempty"` // of a gateway, which may only take its clients' roles
	Kafka           []string `json:"kafka,omitempty"`            // brokers to bootstrap from
	KafkaPassword   string   `json:"kafka_password,omitempty"`   // of KafkaUser
}

// add sets the addresses of an engine.
func (a *Addresses) add(r running) {
	switch r := r.(type) {
	case *ClickHouse:
		a.ClickHouse, a.ClickHouseHTTP = r.DSN(), r.HTTPAddr()
	case *Postgres:
		a.Postgres, a.PostgresService, a.PostgresGateway = r.DSN(), r.ServiceDSN(), r.GatewayDSN()
	case *Kafka:
		a.Kafka, a.KafkaPassword = r.Brokers(), r.Password()
	}
}

// has reports whether every needed engine runs.
func (a Addresses) has(needed Options) bool {
	return (!needed.ClickHouse || a.ClickHouse != "") && (!needed.Postgres || a.Postgres != "") &&
		(!needed.Kafka || len(a.Kafka) > 0)
}

// alive reports whether the owner's process exists. The lock alone does not prove it: a process that joined takes it
// for a moment to see that the owner is gone.
func (o owner) alive() bool {
	return o.Session != "" && !errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH)
}

// Running returns the owner of the engines of a data directory; nil if none run.
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
