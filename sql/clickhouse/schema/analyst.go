package schema

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An Analyst is somebody of one organization who asks in SQL: a user of the server
// who reads the rows of that organization and no other. Access comes as a file of
// the server's configuration (users.d), since the embedded engine has no other way.
type Analyst struct {
	Name           string          // told apart within the organization: a–z, 0–9 and single hyphens
	Organization   string          // its slug when the analyst was added
	OrganizationID clickhouse.UUID // whose rows are seen, whatever the slug is by now
	Database       string          // where our tables are
	PasswordSHA256 string          // hex
	Since          time.Time
	Sharded        bool // our tables are those of a cluster
}

var (
	plain        = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	databaseLike = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sha256Like   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// longest is the most letters of a name or slug, so that a login still names a file.
const longest = 100

// Validate says what is wrong with a, all at once. All of it becomes XML and the
// name of a file.
func (a Analyst) Validate() error {
	var errs []error
	if !plain.MatchString(a.Name) || len(a.Name) > longest {
		errs = append(errs, fmt.Errorf("analyst name %q: want at most %d of a–z, 0–9 and single hyphens between them", a.Name, longest))
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if a.Organization == "" || !utf8.ValidString(a.Organization) || strings.ContainsFunc(a.Organization, unprintable) {
		errs = append(errs, fmt.Errorf("organization slug %q: want printable text", a.Organization))
	}
	if a.OrganizationID == (clickhouse.UUID{}) {
		errs = append(errs, errors.New("organization id: want one that is not nil"))
	}
	if !databaseLike.MatchString(a.Database) {
		errs = append(errs, fmt.Errorf("database %q: want letters, digits and _", a.Database))
	}
	if !sha256Like.MatchString(a.PasswordSHA256) {
		errs = append(errs, errors.New("password hash: want SHA-256 in hexadecimal"))
	}
	return errors.Join(errs...)
}

// Login is the user's name on the server and that of the file: analyst_SLUG_NAME, or
// analyst__ID_NAME where the slug has more than a–z, 0–9 and hyphens. No part has a
// _, so that no two analysts share one, and none is a user of another kind.
func (a Analyst) Login() string {
	organization := a.Organization
	if !plain.MatchString(organization) || len(organization) > longest {
		organization = "_" + hex.EncodeToString(a.OrganizationID[:])
	}
	return "analyst_" + organization + "_" + a.Name
}

//go:embed analyst.xml
var analystXML string

var analystTemplate = template.Must(template.New("analyst.xml").Parse(analystXML))

// Configuration is the file for users.d. It depends on nothing but a and this
// release's schema.
func (a Analyst) Configuration() ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err := analystTemplate.Execute(&text, struct {
		Analyst
		Tables, Views, Indexes, Changeable []string
	}{a, a.tables(), organizationViews(), indexReaders, changeable})
	if err != nil {
		return nil, fmt.Errorf("write configuration of analyst %s: %w", a.Login(), err)
	}
	return text.Bytes(), nil
}

// tables are those that are read: of a cluster also what each shard has of them,
// where another server asks as the analyst.
func (a Analyst) tables() []string {
	tables := OrganizationTables()
	if !a.Sharded {
		return tables
	}
	for _, table := range tables {
		if !clickhouse.Dimension(table) {
			tables = append(tables, table+clickhouse.LocalSuffix)
		}
	}
	return tables
}

// errNotOurs says that a file of users was written by somebody else.
var errNotOurs = errors.New("it has no answerscope_analyst")

// readAnalyst reads back what Configuration has written, also in an earlier release.
func readAnalyst(text []byte) (Analyst, error) {
	var file struct {
		Analyst struct {
			Name           string    `xml:"name"`
			Organization   string    `xml:"organization"`
			OrganizationID string    `xml:"organization_id"`
			Database       string    `xml:"database"`
			PasswordSHA256 string    `xml:"password_sha256_hex"`
			Since          time.Time `xml:"since"`
			Sharded        bool      `xml:"sharded"`
		} `xml:"answerscope_analyst"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		return Analyst{}, err
	}
	f := file.Analyst
	if f.Name == "" {
		return Analyst{}, errNotOurs
	}
	var id clickhouse.UUID
	if err := id.UnmarshalText([]byte(f.OrganizationID)); err != nil {
		return Analyst{}, fmt.Errorf("organization id: %w", err)
	}
	a := Analyst{f.Name, f.Organization, id, f.Database, f.PasswordSHA256, f.Since, f.Sharded}
	return a, a.Validate()
}

var (
	tableBegin      = regexp.MustCompile(`^\s*CREATE TABLE IF NOT EXISTS (\w+)\s*\(`)
	tableEnd        = regexp.MustCompile(`^\s*DROP TABLE IF EXISTS (\w+)`)
	organizationKey = regexp.MustCompile(`(?m)^\s*organization_id\s+UUID\b`)
	lineComment     = regexp.MustCompile(`--[^\n]*`)
)

// OrganizationTables are the tables of the schema whose rows belong to organizations.
func OrganizationTables() []string {
	var tables []string
	for _, name := range numbered() {
		text := lineComment.ReplaceAllString(mustRead("migrate/"+name), "")
		for statement := range strings.SplitSeq(text, ";") {
			if m := tableBegin.FindStringSubmatch(statement); m != nil && organizationKey.MatchString(statement) {
				tables = append(tables, m[1])
			}
			if m := tableEnd.FindStringSubmatch(statement); m != nil {
				tables = slices.DeleteFunc(tables, func(table string) bool { return table == m[1] })
			}
		}
	}
	slices.Sort(tables)
	return tables
}

// organizationViews are the named views that are asked for one organization. The
// others are the pipeline's questions to itself.
func organizationViews() []string {
	return slices.DeleteFunc(definitionNames("query"), func(name string) bool {
		return !strings.Contains(mustRead("query/"+name+".sql"), "{organization_id:UUID}")
	})
}

// indexReaders are table functions that tell the keys of a table's rows to whoever
// may read its columns, past the row filters and without a grant of their own. What
// a table function returns is filtered as a table of database _table_function.
var indexReaders = []string{
	"mergeTreeAnalyzeIndexes", "mergeTreeAnalyzeIndexesUUID", "mergeTreeIndex", "mergeTreeProjection", "mergeTreeTextIndex",
}

// changeable are the settings, beside the limits, that an analyst may change: what
// clients send by themselves, and how a query is read and its result is shown. Of
// some 1,700 others several lift limits, read files, write files or call addresses:
// with readonly = 1 those that nobody has thought of are refused. These are old and
// few, because a server refuses a configuration that names a setting it lacks.
var changeable = []string{
	"add_http_cors_header",
	"aggregate_functions_null_for_empty",
	"any_join_distinct_right_table_keys",
	"async_insert", // JDBC sends it with every query
	"bool_false_representation",
	"bool_true_representation",
	"cancel_http_readonly_queries_on_client_close",
	"cast_keep_nullable",
	"connect_timeout",
	"count_distinct_implementation",
	"date_time_input_format",
	"date_time_output_format",
	"do_not_merge_across_partitions_select_final",
	"enable_http_compression",
	"enable_positional_arguments",
	"except_default_mode",
	"extremes",
	"final",
	"format_csv_delimiter",
	"format_csv_null_representation",
	"format_tsv_null_representation",
	"group_by_use_nulls",
	"http_headers_progress_interval_ms",
	"http_receive_timeout",
	"http_send_timeout",
	"http_write_exception_in_output_format",
	"http_zlib_compression_level",
	"intersect_default_mode",
	"join_algorithm",
	"join_default_strictness",
	"join_use_nulls",
	"limit",
	"log_comment",
	"low_cardinality_allow_in_native_format",
	"network_compression_method",
	"network_zstd_compression_level",
	"offset",
	"output_format_arrow_compression_method",
	"output_format_arrow_low_cardinality_as_dictionary",
	"output_format_arrow_string_as_string",
	"output_format_binary_write_json_as_string",
	"output_format_csv_crlf_end_of_line",
	"output_format_decimal_trailing_zeros",
	"output_format_json_array_of_rows",
	"output_format_json_escape_forward_slashes",
	"output_format_json_named_tuples_as_objects",
	"output_format_json_quote_64bit_floats",
	"output_format_json_quote_64bit_integers",
	"output_format_json_quote_decimals",
	"output_format_json_quote_denormals",
	"output_format_native_write_json_as_string",
	"output_format_parquet_compression_method",
	"output_format_parquet_string_as_string",
	"output_format_parquet_version",
	"output_format_pretty_color",
	"output_format_pretty_max_column_pad_width",
	"output_format_pretty_max_rows",
	"output_format_pretty_max_value_width",
	"output_format_pretty_row_numbers",
	"output_format_write_statistics",
	"receive_timeout",
	"result_overflow_mode",
	"send_progress_in_http_headers",
	"send_timeout",
	"session_timezone",
	"timeout_overflow_mode",
	"totals_mode",
	"transform_null_in",
	"union_default_mode",
	"wait_for_async_insert",
}
