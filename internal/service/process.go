// Package service gives commands the engines that they work with, and runs the parts of a server: it brings schemas up,
// serves the admin listener and /readyz, and starts and stops the parts in order.
package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// A Process is what all code of one command shares.
type Process struct {
	Settings config.Settings
	Command  string // such as "deadletters list"
	Actor    string // who runs it, for the audit log
	Restores bool   // it fills the data directory, which nothing else uses until that is done
	Log      *slog.Logger

	Say      func(format string, args ...any)                                    // prints a line for people
	Progress func(task string, total int64) (reach func(done int64), end func()) // begins to show how much is done

	connected chan *Engines // from Connect to Do
}

// Needs are the engines that a command works with.
type Needs = upkeep.Stores

// What most commands need.
var (
	Everything = Needs{ClickHouse: true, Postgres: true, Kafka: true}
	// PostgreSQL has the lock under which an embedded schema is brought up.
	Databases = Needs{ClickHouse: true, Postgres: true}
	Control   = Needs{Postgres: true}
)

// Embedded returns the engines among need that have no address of their own.
func (p *Process) Embedded(need Needs) Needs {
	return Needs{
		ClickHouse: need.ClickHouse && !p.Settings.HasWarehouse(),
		Postgres:   need.Postgres && !p.Settings.Postgres.IsSet(),
		Kafka:      need.Kafka && len(p.Settings.Kafka.Brokers) == 0,
	}
}

// RenewAnalysts gives the analysts of a users.d what this release has; it does nothing without a directory.
func (p *Process) RenewAnalysts(usersDir string) error {
	if usersDir == "" {
		return nil
	}
	renewed, err := schema.RenewAnalysts(usersDir)
	for _, login := range renewed {
		p.Log.Info("analyst renewed", "login", login)
	}
	return err
}

// endTimeout is how long a command has to end by itself once its engines are gone.
const endTimeout = 7 * time.Second

// Do runs a command, whose engines Connect opens, and closes them. When engines that it has joined go away, the command
// is cancelled and returns its progress as its error; one that does not return is left behind, because the
// process ends anyway.
func (p *Process) Do(ctx context.Context, command func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.connected = make(chan *Engines)
	done := make(chan error, 1)
	go func() { done <- command(ctx) }()
	var engines *Engines
	var lost <-chan struct{}
	var timeout <-chan time.Time
	gaveUp := false
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		case engines = <-p.connected:
			lost = engines.lost()
		case <-lost:
			cancel(engines.Running.Err())
			lost, timeout = nil, time.After(endTimeout)
		case <-timeout:
			err, running, gaveUp = errors.New("gave up what was under way"), false, true
		}
	}
	if engines == nil {
		return err
	}
	if timeout != nil {
		err = errors.Join(engines.Running.Err(), err)
	}
	if gaveUp {
		return errors.Join(err, engines.stop()) // the command may still use the clients, and Close would wait for it
	}
	return errors.Join(err, engines.Close())
}

// Connect opens the engines that a command needs, checks that their schemas are up to date, and connects to the
// databases among them. Do closes the engines after the command.
func (p *Process) Connect(ctx context.Context, need Needs) (*Engines, error) {
	e, err := p.Open(ctx, need, false, "")
	if err != nil {
		return nil, err
	}
	p.connected <- e
	if err := e.upToDate(ctx, need); err != nil {
		return nil, err
	}
	return e, e.OpenClients(ctx, need)
}
