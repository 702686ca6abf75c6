package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says what is served, and to whom.
type Config struct {
	Prefix     string   // of the paths: /rest/v1, or / for all
	Schemas    []string // exposed; the first is the one of requests that name none
	AnonRole   string   // of callers without a token; "": they are refused
	SearchPath []string // schemas beside the one of a request in which functions, operators and types are found
	MaxRows    *int64   // of one result, and of each embed; nil: all
	MaxBytes   int64    // of one body; 0: no bound. A body that this or MaxRows cuts is answered 206
	Aggregates bool     // whether sum(), count() and the like may be asked for
	Origins    []string // of pages that may read answers with credentials; none: all may, without

	StatementTimeout time.Duration // of each of a request's statements
	AcquireTimeout   time.Duration // for everything before the statement: a slot, a connection, the caller's role
}

// DefaultConfig needs schemas.
func DefaultConfig() Config {
	return Config{Prefix: "/", SearchPath: []string{"public"}, StatementTimeout: 30 * time.Second, AcquireTimeout: 4 * time.Second}
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if !strings.HasPrefix(c.Prefix, "/") {
		errs = append(errs, fmt.Errorf("rest prefix is %q: want a path, such as / or /rest/v1", c.Prefix))
	}
	if len(c.Schemas) == 0 || slices.Contains(c.Schemas, "") {
		errs = append(errs, errors.New("rest schemas are missing: want the names of the schemas to expose, separated by commas"))
	}
	if c.MaxRows != nil && *c.MaxRows < 1 {
		errs = append(errs, fmt.Errorf("rest max rows is %d: want at least 1, or none for all rows", *c.MaxRows))
	}
	return errors.Join(errs...)
}

// rowsToRead is the LIMIT of the relation of a request. One row over MaxRows shows that a body is cut.
func (c Config) rowsToRead() *int64 {
	if c.MaxRows == nil || c.MaxBytes == 0 {
		return c.MaxRows
	}
	rows := *c.MaxRows + 1
	return &rows
}

const (
	bodyLimit = 8 << 20         // bytes of a request's body
	grace     = 5 * time.Second // in which a statement that has timed out ends
)

// OpenPool opens connections to a database. Its login should be no superuser and inherit no rights, but may take the
// roles of all callers.
func OpenPool(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("postgres dsn: want postgres://user:password@host:port/database")
	}
	cfg.MaxConns = max(cfg.MaxConns, minConns)
	if cfg.ConnConfig.ConnectTimeout == 0 || cfg.ConnConfig.ConnectTimeout > connectTimeout {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 3}}
	cfg.ConnConfig.DialFunc = dialer.DialContext
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	return pool, nil
}

// connectTimeout bounds a new connection. One that is open and gets no answer from the other end's kernel is closed as
// soon: a statement may take long, but its connection is alive.
const connectTimeout = 4 * time.Second

// minConns are connections at once, unless the address asks for more.
const minConns = 10

// preflight is whether a browser asks what a page may send.
func (in incoming) preflight() bool {
	return in.method == http.MethodOptions && in.header("Origin") != "" && in.header("Access-Control-Request-Method") != ""
}

const (
	allowedMethods = "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD"
	exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit, Preference-Applied"
	preflightAge   = "86400"
)

// shared are the headers that let pages of other origins read an answer.
func (a *API) shared(in incoming) [][2]string {
	if a.own {
		return nil
	}
	origin := in.header("Origin")
	if origin == "" {
		if in.method == http.MethodOptions {
			return [][2]string{{"Access-Control-Allow-Origin", "*"}}
		}
		return nil
	}
	headers := [][2]string{{"Access-Control-Allow-Origin", "*"}}
	if len(a.cfg.Origins) > 0 {
		if !slices.Contains(a.cfg.Origins, origin) {
			return nil
		}
		headers = [][2]string{{"Access-Control-Allow-Origin", origin}, {"Access-Control-Allow-Credentials", "true"}}
	}
	if !in.preflight() {
		return append(headers, [2]string{"Access-Control-Expose-Headers", exposedHeaders})
	}
	allowed := []string{"Authorization"}
	for name := range strings.SplitSeq(in.header("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "Authorization") {
			allowed = append(allowed, name)
		}
	}
	for _, name := range []string{"Accept", "Accept-Language", "Content-Language"} {
		if !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) }) {
			allowed = append(allowed, name)
		}
	}
	return append(headers, [2]string{"Access-Control-Allow-Methods", allowedMethods},
		[2]string{"Access-Control-Allow-Headers", strings.Join(allowed, ", ")}, [2]string{"Access-Control-Max-Age", preflightAge})
}
