package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/answerscope/answerscope/internal/dialer"
)

// Config has the exposed schemas, and the bounds of requests and responses.
type Config struct {
	Prefix     string   // of the paths: /rest/v1, or / for all
	Schemas    []string // exposed; requests that name none get the first
	AnonRole   string   // of callers without a token; "": they are refused
	AnonWrites bool     // they may send long bodies
	SearchPath []string // schemas beside the request's where functions, operators and types are found
	MaxRows    *int64   // of one result, and of each embed; nil: all
	MaxBytes   int64    // of one body; 0: no bound. A body that this or MaxRows cuts has the status 206
	Aggregates bool     // sum(), count() and the like are allowed
	Origins    []string // of pages that may read responses with credentials; none: all may, without

	Adders    map[string]string   // by table: the hint for callers who may add no row to it
	Parents   map[string]string   // by table: the column by which a policy finds a new row's organization
	Preparers map[string]Preparer // by function: what runs before a call of it

	StatementTimeout time.Duration // of each of a request's statements
	AcquireTimeout   time.Duration // for everything before the statement: a slot, a connection, the caller's role
}

// A Preparer computes input of a function from the text arguments of a call. The function reads it as the setting
// request.prepared. It runs in a slot of the caller's organization, for at most the statement timeout.
type Preparer func(ctx context.Context, caller Caller, argument func(name string) string) (string, error)

// DefaultConfig lacks the schemas.
func DefaultConfig() Config {
	return Config{
		Prefix: "/", SearchPath: []string{"public"},
		StatementTimeout: 30 * time.Second, AcquireTimeout: 4 * time.Second,
	}
}

// Validate returns all invalid settings.
func (c Config) Validate() error {
	var errs []error
	if !strings.HasPrefix(c.Prefix, "/") {
		errs = append(errs, fmt.Errorf("rest prefix is %q: want a path, such as / or /rest/v1", c.Prefix))
	}
	if len(c.Schemas) == 0 || slices.Contains(c.Schemas, "") {
		errs = append(errs,
			errors.New("rest schemas are missing: want the names of the schemas to expose, separated by commas"))
	}
	if c.MaxRows != nil && *c.MaxRows < 1 {
		errs = append(errs, fmt.Errorf("rest max rows is %d: want at least 1, or none for all rows", *c.MaxRows))
	}
	return errors.Join(errs...)
}

// rowsToRead returns the LIMIT of a request's relation. One row over MaxRows shows that a body is cut.
func (c Config) rowsToRead() *int64 {
	if c.MaxRows == nil || c.MaxBytes == 0 {
		return c.MaxRows
	}
	rows := *c.MaxRows + 1
	return &rows
}

const (
	bodyLimit = 8 << 20         // bytes of a request's body
	grace     = 5 * time.Second // for a statement that has timed out to end

	// minConns are open at once, unless the address asks for more.
	minConns = 10
	// connectTimeout bounds a new connection. An open one whose other end's kernel does not answer is closed as soon: a
	// statement may take long, but its connection is alive.
	connectTimeout = 4 * time.Second
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
	cfg.ConnConfig.DialFunc = dialer.New(connectTimeout, connectTimeout).DialContext
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	return pool, nil
}

// preflight reports whether a browser asks which requests a page may send.
func (r rawRequest) preflight() bool {
	return r.method == http.MethodOptions && r.header("Origin") != "" && r.header("Access-Control-Request-Method") != ""
}

const (
	allowedMethods = "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD"
	exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, " +
		"Transfer-Encoding, Range-Unit, Preference-Applied"
	preflightAge = "86400"
)

// corsHeaders returns the headers that let pages of other origins read a response.
func (a *API) corsHeaders(r rawRequest) [][2]string {
	origin := r.header("Origin")
	if a.sameOriginOnly || origin == "" && r.method != http.MethodOptions {
		return nil
	}
	headers := [][2]string{{"Access-Control-Allow-Origin", "*"}}
	if origin == "" {
		return headers
	}
	if len(a.cfg.Origins) > 0 {
		if !slices.Contains(a.cfg.Origins, origin) {
			return nil
		}
		headers = [][2]string{{"Access-Control-Allow-Origin", origin}, {"Access-Control-Allow-Credentials", "true"}}
	}
	if !r.preflight() {
		return append(headers, [2]string{"Access-Control-Expose-Headers", exposedHeaders})
	}
	allowed := []string{"Authorization"}
	requested := r.header("Access-Control-Request-Headers") + ",Accept,Accept-Language,Content-Language"
	for name := range strings.SplitSeq(requested, ",") {
		name = strings.TrimSpace(name)
		listed := slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) })
		if name != "" && !listed {
			allowed = append(allowed, name)
		}
	}
	return append(headers, [2]string{"Access-Control-Allow-Methods", allowedMethods},
		[2]string{"Access-Control-Allow-Headers", strings.Join(allowed, ", ")},
		[2]string{"Access-Control-Max-Age", preflightAge})
}
