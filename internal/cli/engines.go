package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
)

// needs are the engines that a command works with.
type needs struct{ clickhouse, postgres, kafka bool }

// engines are where a command finds what it needs: given addresses, engines that it has joined, or its own.
type engines struct {
	set        *engine.Set // nil when every address is given
	shards     string      // DSNs with credentials, in place of the next
	cluster    string      // what the servers of shards call it
	clickhouse string      // DSN with credentials
	trust      *tls.Config // whom ClickHouse is believed by; nil is the system's trust
	postgres   string      // DSN with credentials
	brokers    []string
}

// own tells that the embedded engines were started by this process.
func (e *engines) own() bool { return e.set != nil && !e.set.Joined() }

// lost is closed when an engine of the data directory is gone; never when there is none.
func (e *engines) lost() <-chan struct{} {
	if e.set == nil {
		return nil
	}
	return e.set.Lost()
}

// ownership is how a command holds the data directory.
type ownership struct {
	command   string // its name, told to others who want the directory
	exclusive bool   // own the engines, do not join another's
	address   string // where it serves
}

// open finds the engines. Those without an address are joined or started under the data directory.
func (p *process) open(ctx context.Context, need needs, how ownership) (*engines, error) {
	if err := p.Settings.Validate(); err != nil {
		return nil, usageError{err}
	}
	e := &engines{clickhouse: p.ClickHouse.Reveal(), shards: p.Shards.Reveal(), cluster: p.Cluster, postgres: p.Postgres.Reveal(), brokers: p.Kafka.Brokers}
	if p.ClickHouseTrust.IsSet() {
		var err error
		if e.trust, err = p.ClickHouseTrust.TLS(); err != nil {
			return nil, fmt.Errorf("reach clickhouse: %w", err)
		}
	}
	options := engine.Options{
		DataDir:    p.DataDir,
		ClickHouse: need.clickhouse && !p.HasWarehouse(),
		Postgres:   need.postgres && e.postgres == "",
		Kafka:      need.kafka && len(e.brokers) == 0,
		Owner:      how.command,
		Exclusive:  how.exclusive,
		Address:    how.address,
		Log:        p.log,
	}
	if !options.ClickHouse && !options.Postgres && !options.Kafka {
		return e, nil
	}
	if options.ClickHouse {
		// Before the engine reads them; of joined engines it is their owner's to do.
		options.Prepare = func() error { return p.renewAnalysts(p.usersDir(usersAt{})) }
	}
	set, err := engine.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	e.set = set
	if options.ClickHouse {
		e.clickhouse = set.ClickHouse()
	}
	if options.Postgres {
		e.postgres = set.Postgres()
	}
	if options.Kafka {
		e.brokers = set.Kafka()
	}
	return e, nil
}

// stopPatience is how long engines of ours may take to stop in order before they are killed with us.
const stopPatience = 30 * time.Second

// close stops the engines that are ours.
func (e *engines) close() error {
	if e.set == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := e.set.Stop(ctx); err != nil {
		return fmt.Errorf("stop engines: %w", err)
	}
	return nil
}

// lostPatience is what a command is given to end by itself once its engines are gone; then it is ended.
const lostPatience = 7 * time.Second

// with runs a chore on the engines that it needs, with up-to-date schemas, and closes them. When engines that it has
// joined go away, the chore is cancelled and must return what it has achieved as its error; one that does not return
// is left behind, because the process ends anyway.
func (p *process) with(ctx context.Context, need needs, command string, chore func(context.Context, *engines) error) error {
	e, err := p.open(ctx, need, ownership{command: command})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() {
		if err := p.upToDate(ctx, need, e); err != nil {
			done <- err
			return
		}
		done <- chore(ctx, e)
	}()
	select {
	case err = <-done:
	case <-e.lost():
		cancel(e.set.Err())
		select {
		case err = <-done:
		case <-time.After(lostPatience):
			err = errors.New("gave up what was under way")
		}
		err = errors.Join(e.set.Err(), err)
	}
	return errors.Join(err, e.close())
}
