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
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ExportFilter selects the rows of a brand in inclusive days.
type ExportFilter struct {
	OrganizationID UUID `ch:"organization"`
	BrandID        UUID `ch:"brand"`
	DateFrom       Day  `ch:"first_day"`
	DateTo         Day  `ch:"last_day"`
}

// Format is the server's name of an export's format.
type Format string

// The formats.
const (
	NDJSON  Format = "JSONEachRow"
	Parquet Format = "Parquet"
)

// exportSettings bounds the server's memory: few rows of a part at a time, a small part of the sorting in memory, small
// row groups in a Parquet file. Answers of 5 KB took 17 MB for each part, and all parts are read at once. Times are in
// RFC 3339 and UTC, numbers are numbers.
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

// Export streams rows of a landing table to w in the server's format; neither side has more than some of them in
// memory. NDJSON is read month by month, each at one moment, with answers by day. A Parquet file is read at one moment
// and takes the server up to 2 GB; beyond that it is an error. After an error the output is unusable.
func Export(ctx context.Context, c Config, table string, filter ExportFilter, format Format, w io.Writer) (err error) {
	q := landings[table].export
	conn, err := openHTTP(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if format != NDJSON {
		return export(ctx, conn, q, filter, format, w)
	}
	months, err := exportMonths(ctx, conn, table, filter)
	if err != nil {
		return err
	}
	for _, m := range months {
		part := filter
		part.DateFrom = max(filter.DateFrom, DayOf(m.Month))
		part.DateTo = min(filter.DateTo, DayOf(m.Month.AddDate(0, 1, -1)))
		if err := export(ctx, conn, q, part, format, w); err != nil {
			return err
		}
	}
	return nil
}

type (
	exportMonth struct {
		Month time.Time `ch:"month"`
	}
	exportMonthParams struct {
		ExportFilter
		Table string `ch:"table"`
	}
)

// exportMonths returns the months in which a brand has rows, in their order.
func exportMonths(ctx context.Context, conn *Conn, table string, filter ExportFilter) ([]exportMonth, error) {
	const text = `
SELECT DISTINCT toStartOfMonth(day) AS month
FROM {table:Identifier}
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day BETWEEN {first_day:Date} AND {last_day:Date}
ORDER BY month`
	q := Query[exportMonthParams, exportMonth]{Name: "exported_months", Text: text}
	return q.All(ctx, conn, exportMonthParams{filter, table})
}

func export(
	ctx context.Context, conn *Conn, q Query[ExportFilter, struct{}], filter ExportFilter, format Format, w io.Writer,
) error {
	settings := clickhouse.Settings{"log_comment": q.Name}
	maps.Copy(settings, exportSettings)
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	server := conn.Server.(driver.Conn) // openHTTP opens one server, not replicas
	rows, err := server.QueryFormat(ctx, string(format), q.Text, named(bind(filter))...)
	if err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	if _, err := io.Copy(w, rows); err != nil {
		return errors.Join(fmt.Errorf("export %s: %w", q.Name, err), rows.Close())
	}
	return rows.Close()
}

// openHTTP connects to the HTTP interface of a server, the only one that writes formats; on a cluster to the first that
// answers.
func openHTTP(ctx context.Context, c Config) (*Conn, error) {
	c.ReadTimeout = exportTimeout
	var errs []error
	for _, dsn := range c.Servers() {
		over, err := overHTTP(ctx, c.ForServer(dsn))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		conn, err := Open(ctx, over)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, fmt.Errorf("over HTTP, which exports are read from: %w", err))
	}
	return nil, errors.Join(errs...)
}

// exportTimeout bounds the server's time for an export.
const exportTimeout = 24 * time.Hour

// overHTTP returns c with the protocol HTTP. A server with a native address is asked for its HTTP port.
func overHTTP(ctx context.Context, c Config) (over Config, err error) {
	o, err := options(c)
	if err != nil || o.Protocol == clickhouse.HTTP {
		return c, err
	}
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	conn, err := Open(ctx, c)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var port uint16
	name := clickhouse.Named("name", scheme+"_port")
	if err := conn.QueryRow(ctx, "SELECT getServerPort({name:String})", name).Scan(&port); err != nil {
		return c, fmt.Errorf("read clickhouse's %s_port, which exports are read from: %w", scheme, err)
	}
	address, err := url.Parse(c.DSN)
	if err != nil {
		return c, fmt.Errorf("parse clickhouse dsn: %w", err)
	}
	host, _, err := net.SplitHostPort(o.Addr[0])
	if err != nil {
		return c, fmt.Errorf("clickhouse address %s: %w", o.Addr[0], err)
	}
	address.Scheme, address.Host = scheme, net.JoinHostPort(host, strconv.Itoa(int(port)))
	return c.ForServer(address.String()), nil
}
