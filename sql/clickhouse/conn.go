package clickhouse

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/cenkalti/backoff/v5"
)

// Config has the address of the server or cluster, and the limits of its connections.
type Config struct {
	DSN          string        // clickhouse://user:password@host:9000/database or http://…; TLS: secure=true, https
	Shards       string        // instead of DSN, a cluster's addresses: ; between shards, , between a shard's replicas
	Cluster      string        // name of the cluster on the servers, for Shards
	TLS          *tls.Config   // trusted authorities and the client's certificate; nil: the system's, and none
	MaxOpenConns int           // connections at once
	DialTimeout  time.Duration // for one connection
	ReadTimeout  time.Duration // for one answer of the server

	silence time.Duration // in the middle of an answer, after which the server is given up; 0: any
}

// DefaultConfig lacks a DSN, or Shards.
func DefaultConfig() Config {
	return Config{Cluster: "answerscope", MaxOpenConns: 16, DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Minute}
}

// Validate reports all mistakes in c at once.
func (c Config) Validate() error {
	if c.Shards != "" {
		return c.validateShards()
	}
	var errs []error
	o, err := parse(c.DSN)
	if err != nil || c.DSN == "" {
		errs = append(errs,
			errors.New("clickhouse dsn: want clickhouse://user:password@host:port/database or http(s)://…"))
	}
	if err == nil && c.TLS != nil && o.TLS == nil {
		errs = append(errs, errors.New("clickhouse certificates: of no use without secure=true or https:// in the dsn"))
	}
	if c.MaxOpenConns < 1 {
		errs = append(errs, fmt.Errorf("clickhouse max open conns %d: want at least 1", c.MaxOpenConns))
	}
	return errors.Join(errs...)
}

// Database is the database in the DSN, or the server's default.
func (c Config) Database() string {
	o, err := parse(c.Servers()[0])
	if err != nil || o.Auth.Database == "" {
		return "default"
	}
	return o.Auth.Database
}

// parse reads a DSN. The driver wants secure=true beside https://.
func parse(dsn string) (*clickhouse.Options, error) {
	if address, err := url.Parse(dsn); err == nil && address.Scheme == "https" && !address.Query().Has("secure") {
		address.RawQuery += "&secure=true"
		dsn = address.String()
	}
	return clickhouse.ParseDSN(dsn)
}

// A Server is the part of the driver's interface that this package uses, for one server or the replicas of a shard.
type Server interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	Select(ctx context.Context, dest any, query string, args ...any) error
	QueryRow(ctx context.Context, query string, args ...any) driver.Row
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
	Exec(ctx context.Context, query string, args ...any) error
	Ping(ctx context.Context) error
	Close() error
}

// Conn is a pool of connections to one server or to a cluster. Queries go to the cluster as to one server; inserts go
// to a Shard. It is safe for concurrent use.
type Conn struct {
	Server

	cluster string  // its name; "" for one server
	shards  []*Conn // nil for one server
}

// Open connects and checks that the servers answer within some seconds.
func Open(ctx context.Context, c Config) (*Conn, error) {
	conn, err := OpenLater(c)
	if err != nil {
		return nil, err
	}
	if err := Retry(ctx, func() error { return conn.Ping(ctx) }); err != nil {
		o, parseErr := parse(c.Servers()[0])
		if parseErr == nil && errors.Is(err, io.EOF) && o.TLS == nil { // a TLS port hangs up on another protocol
			err = fmt.Errorf("%w (if that port speaks TLS, give the dsn secure=true)", err)
		}
		return nil, errors.Join(fmt.Errorf("ping clickhouse: %w", err), conn.Close())
	}
	return conn, nil
}

// OpenLater is Open without the check: it connects at the first query.
func OpenLater(c Config) (*Conn, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Shards != "" {
		return openCluster(c)
	}
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	conn, err := clickhouse.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	return &Conn{Server: conn}, nil
}

// OpenDB connects through database/sql, for migrations.
func OpenDB(c Config) (*sql.DB, error) {
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	return clickhouse.OpenDB(o), nil
}

func options(c Config) (*clickhouse.Options, error) {
	o, err := parse(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse clickhouse dsn: %w", err)
	}
	if c.TLS != nil && o.TLS != nil {
		fromDSN := o.TLS
		o.TLS = c.TLS.Clone()
		o.TLS.InsecureSkipVerify, o.TLS.ServerName = fromDSN.InsecureSkipVerify, fromDSN.ServerName
	}
	o.MaxOpenConns, o.MaxIdleConns = c.MaxOpenConns, c.MaxOpenConns
	o.DialTimeout, o.ReadTimeout = c.DialTimeout, c.ReadTimeout
	o.MaxCompressionBuffer = cmp.Or(o.MaxCompressionBuffer, 256<<10) // each connection retains the driver's 10 MB
	if o.Protocol == clickhouse.Native {
		o.DialContext = dial(o, c.silence)
	}
	if o.Compression == nil {
		o.Compression = &clickhouse.Compression{Method: compression(o.Addr)}
	}
	o.ClientInfo.Products = append(o.ClientInfo.Products, struct{ Name, Version string }{"answerscope", "1"})
	return o, nil
}

// compression returns LZ4, but none on loopback: 392,000 visits a second were inserted instead of 327,000.
func compression(addresses []string) clickhouse.CompressionMethod {
	for _, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return clickhouse.CompressionLZ4
		}
	}
	return clickhouse.CompressionNone
}

// retryTimeout bounds the retries of a query while the server is away. The embedded engine, which is restarted for new
// users, is back within a second, on a busy machine within six; another server restarts within a few.
const retryTimeout = 10 * time.Second

// Retry repeats an idempotent function while the server cannot be reached or hangs up.
func Retry(ctx context.Context, do func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if err != nil && !unreached(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(retryTimeout), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: 250 * time.Millisecond,
		RandomizationFactor: 0.5, Multiplier: 1.5,
	}))
	return err
}

// IsTransient reports whether a query may succeed if it is sent again later: the server cannot be reached, or cannot
// answer because another server of its cluster is away.
func IsTransient(err error) bool {
	return unreached(err) || HasCode(err,
		proto.ErrAllConnectionTriesFailed, proto.ErrAllReplicasAreStale, proto.ErrReplicaIsNotInQuorum,
		proto.ErrTableIsReadOnly, proto.ErrSocketTimeout, proto.ErrNetworkError)
}

// HasCode reports whether an error is the server's answer with one of the codes.
func HasCode(err error, codes ...proto.Error) bool {
	exception, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && slices.Contains(codes, proto.Error(exception.Code))
}

// unreached reports whether the connection failed, as opposed to an answer of the server.
func unreached(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if exception, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return proto.Error(exception.Code) == proto.ErrAborted // the server is shutting down
	}
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded, syscall.ECONNREFUSED, syscall.ECONNRESET,
		syscall.EPIPE, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}
