package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Exported is what of a brand, and of which days, is exported.
type Exported struct {
	OrganizationID UUID `ch:"organization"`
	BrandID        UUID `ch:"brand"`
	DateFrom       Day  `ch:"first_day"`
	DateTo         Day  `ch:"last_day"`
}

// The exports. Their rows are the server's, which writes them in a format: no Go
// type has them.
var (
	ExportedAnswers = query[Exported, struct{}]("exported_answers")
	ExportedVisits  = query[Exported, struct{}]("exported_visits")
	ExportedCrawls  = query[Exported, struct{}]("exported_crawls")
)

// Format is how an export is written, as the server calls it.
type Format string

// The formats.
const (
	NDJSON  Format = "JSONEachRow"
	Parquet Format = "Parquet"
)

// exportSettings keep what the server holds apart from what there is: few rows of a
// part at a time, a small part of the sorting in memory, small groups of rows in a Parquet
// file. Answers of 5 KB took 17 MB for each part that is read, all at once, since an
// answer's first row and its last may be in any two (40,000 of a year: 273 MB).
// Times are RFC 3339 in UTC, numbers are numbers.
var exportSettings = clickhouse.Settings{
	"max_threads":                                  1,
	"max_block_size":                               128,
	"aggregation_in_order_max_block_bytes":         4 << 20,
	"max_bytes_before_external_sort":               64 << 20,
	"max_memory_usage":                             2 << 30,
	"max_execution_time":                           0,
	"date_time_output_format":                      "iso",
	"output_format_json_quote_64bit_integers":      0,
	"output_format_json_quote_decimals":            1,
	"output_format_json_named_tuples_as_objects":   1,
	"output_format_json_escape_forward_slashes":    0,
	"output_format_parquet_row_group_size_bytes":   32 << 20,
	"output_format_parquet_parallel_encoding":      0,
	"output_format_parquet_compression_method":     "zstd",
	"cancel_http_readonly_queries_on_client_close": 1,
}

// Export writes rows to w as they come, each as the server formats it; neither side
// holds more than some of them at a time. NDJSON is read month by month, each as it is
// at one moment; answers come by day. A Parquet file is one moment's as a whole, and
// takes the server up to 2 GB: where there is more to merge, it is an error. After any
// error what was written is of no use.
func Export(ctx context.Context, c Config, what Query[Exported, struct{}], of Exported, as Format, w io.Writer) (err error) {
	conn, err := openHTTP(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if as != NDJSON {
		return export(ctx, conn, what, of, as, w)
	}
	months, err := exportMonths.All(ctx, conn, of)
	if err != nil {
		return err
	}
	for _, m := range months {
		if !m.has(what) {
			continue
		}
		part := of
		part.DateFrom, part.DateTo = max(of.DateFrom, DayOf(m.Month)), min(of.DateTo, DayOf(m.Month.AddDate(0, 1, -1)))
		if err := export(ctx, conn, what, part, as, w); err != nil {
			return err
		}
	}
	return nil
}

type exportMonth struct {
	Month   time.Time `ch:"month"`
	Answers bool      `ch:"answers"`
	Visits  bool      `ch:"visits"`
	Crawls  bool      `ch:"crawls"`
}

var exportMonths = query[Exported, exportMonth]("exported_months")

func (m exportMonth) has(what Query[Exported, struct{}]) bool {
	switch what.Name {
	case ExportedAnswers.Name:
		return m.Answers
	case ExportedVisits.Name:
		return m.Visits
	}
	return m.Crawls
}

func export(ctx context.Context, conn *Conn, what Query[Exported, struct{}], of Exported, as Format, w io.Writer) error {
	settings := clickhouse.Settings{"log_comment": what.Name}
	maps.Copy(settings, exportSettings)
	rows, err := conn.QueryFormat(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), string(as), what.Text, Bind(of)...)
	if err != nil {
		return fmt.Errorf("query %s: %w", what.Name, err)
	}
	if _, err := io.Copy(w, rows); err != nil {
		return errors.Join(fmt.Errorf("export %s: %w", what.Name, err), rows.Close())
	}
	return rows.Close()
}

// openHTTP connects to the HTTP interface of c's server, which alone writes formats;
// of a cluster to the first that answers, since any knows the whole.
func openHTTP(ctx context.Context, c Config) (*Conn, error) {
	var errs []error
	for _, dsn := range c.Servers() {
		conn, err := openHTTPAt(ctx, c.At(dsn))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// openHTTPAt connects to one server. Of an address of the native protocol the server
// itself says on which port HTTP is.
func openHTTPAt(ctx context.Context, c Config) (*Conn, error) {
	c.ReadTimeout = exportTimeout
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	if o.Protocol != clickhouse.HTTP {
		if c.DSN, err = overHTTP(ctx, c, o); err != nil {
			return nil, err
		}
	}
	conn, err := Open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("over HTTP, which exports are read from: %w", err)
	}
	return conn, nil
}

// exportTimeout is how long the server may take for a whole export.
const exportTimeout = 24 * time.Hour

// overHTTP is c's address with the protocol and the port of HTTP.
func overHTTP(ctx context.Context, c Config, o *clickhouse.Options) (dsn string, err error) {
	scheme, name := "http", "http_port"
	if o.TLS != nil {
		scheme, name = "https", "https_port"
	}
	conn, err := Open(ctx, c)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var port uint16
	if err := conn.QueryRow(ctx, "SELECT getServerPort({name:String})", clickhouse.Named("name", name)).Scan(&port); err != nil {
		return "", fmt.Errorf("ask clickhouse for its %s, which exports are read from: %w", name, err)
	}
	address, err := url.Parse(c.DSN)
	if err != nil {
		return "", fmt.Errorf("parse clickhouse dsn: %w", err)
	}
	host, _, err := net.SplitHostPort(o.Addr[0])
	if err != nil {
		return "", fmt.Errorf("clickhouse address %s: %w", o.Addr[0], err)
	}
	address.Scheme, address.Host = scheme, net.JoinHostPort(host, strconv.Itoa(int(port)))
	return address.String(), nil
}
