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
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

// UUID is the driver's own type; any [16]byte converts.
type UUID = uuid.UUID

// OrNil is *id, or the nil UUID that the tables keep where there is none.
func OrNil[T ~[16]byte](id *T) UUID {
	if id == nil {
		return UUID{}
	}
	return UUID(*id)
}

// Day is a UTC calendar day, written 2026-03-02: a {name:Date} placeholder does not take the driver's form of a
// time.Time.
type Day string

// DayOf is the UTC day of t.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Config says where the server is and how it is used.
type Config struct {
	DSN          string        // clickhouse://user:password@host:9000/database, or http://…; TLS with ?secure=true, or https://…
	Shards       string        // in place of DSN, the servers of a cluster: addresses, shards apart by ;, replicas of one by ,
	Cluster      string        // of Shards: what the servers call the cluster
	TLS          *tls.Config   // trusted authorities and the client's certificate; nil: those of the system, and none
	MaxOpenConns int           // connections at once
	DialTimeout  time.Duration // for one connection
	ReadTimeout  time.Duration // for one answer of the server
}

// DefaultConfig needs a DSN, or Shards.
func DefaultConfig() Config {
	return Config{Cluster: "answerscope", MaxOpenConns: 16, DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Minute}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	if c.Shards != "" {
		return c.validateShards()
	}
	var errs []error
	o, err := parse(c.DSN)
	if err != nil || c.DSN == "" {
		errs = append(errs, errors.New("clickhouse dsn: want clickhouse://user:password@host:port/database or http(s)://…"))
	}
	if err == nil && c.TLS != nil && o.TLS == nil {
		errs = append(errs, errors.New("clickhouse certificates: of no use without secure=true or https:// in the dsn"))
	}
	if c.MaxOpenConns < 1 {
		errs = append(errs, fmt.Errorf("clickhouse max open conns %d: want at least 1", c.MaxOpenConns))
	}
	return errors.Join(errs...)
}

// Database is the one that the DSN names, or that the server takes without a name.
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

// A Server is what is used of the driver, of one server or of the replicas of a shard.
type Server interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	Select(ctx context.Context, dest any, query string, args ...any) error
	QueryRow(ctx context.Context, query string, args ...any) driver.Row
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
	Exec(ctx context.Context, query string, args ...any) error
	Ping(ctx context.Context) error
	Close() error
}

// Conn is a pool of connections to one server or to a cluster. Questions are asked of the cluster as of one server;
// rows are inserted into a Shard. It is safe for concurrent use.
type Conn struct {
	Server

	cluster string  // its name; "" of one server
	shards  []*Conn // of a cluster
}

// Open connects and checks that the servers answer, now or within some seconds.
func Open(ctx context.Context, c Config) (*Conn, error) {
	conn, err := OpenLater(c)
	if err != nil {
		return nil, err
	}
	if err := Retry(ctx, func() error { return conn.Ping(ctx) }); err != nil {
		if o, parsed := parse(c.Servers()[0]); parsed == nil && errors.Is(err, io.EOF) && o.TLS == nil { // a TLS port hangs up on another protocol
			err = fmt.Errorf("%w (if that port speaks TLS, give the dsn secure=true)", err)
		}
		return nil, errors.Join(fmt.Errorf("ping clickhouse: %w", err), conn.Close())
	}
	return conn, nil
}

// OpenLater is Open without the check: it connects at the first question.
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

// OpenDB connects by the standard library's interface, for migrations.
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
		ofDSN := o.TLS
		o.TLS = c.TLS.Clone()
		o.TLS.InsecureSkipVerify, o.TLS.ServerName = ofDSN.InsecureSkipVerify, ofDSN.ServerName
	}
	o.MaxOpenConns, o.MaxIdleConns = c.MaxOpenConns, c.MaxOpenConns
	o.DialTimeout, o.ReadTimeout = c.DialTimeout, c.ReadTimeout
	o.MaxCompressionBuffer = cmp.Or(o.MaxCompressionBuffer, 256<<10) // the driver's 10 MB stay with each connection
	if o.Protocol == clickhouse.Native {
		o.DialContext = dial(o)
	}
	if o.Compression == nil {
		o.Compression = &clickhouse.Compression{Method: compression(o.Addr)}
	}
	o.ClientInfo.Products = append(o.ClientInfo.Products, struct{ Name, Version string }{"answerscope", "1"})
	return o, nil
}

// compression is LZ4, and none to this machine: 392,000 visits a second were inserted in place of 327,000.
func compression(addresses []string) clickhouse.CompressionMethod {
	for _, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return clickhouse.CompressionLZ4
		}
	}
	return clickhouse.CompressionNone
}
