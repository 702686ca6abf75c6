package schema_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// Why the server refuses, by its error codes.
const (
	noAccess       = 497 // ACCESS_DENIED
	fixedSetting   = 164 // READONLY: a setting that may not be changed, or a statement that changes something
	beyondLimit    = 452 // SETTING_CONSTRAINT_VIOLATION
	tooMuchMemory  = 241
	tooManyRows    = 158
	tooManyResults = 396
	tooSlow        = 160
	outOfTime      = 159
	noFiles        = 129 // FUNCTION_IS_SPECIAL
	experimental   = 344 // SUPPORT_IS_DISABLED
	unknownRole    = 511
	tooLong        = 62
	noOutfile      = 358
	noInput        = 477
	noDDL          = 392
	notAllowed     = 446 // FUNCTION_NOT_ALLOWED
)

// An attack is a statement that an analyst may send, and why it is refused: refused for another reason it would prove
// nothing. Columns of the owner's tables and rows are named as they are, so that the statement would do harm.
type attack struct {
	code      int
	statement string
}

func attacks(s *stage) []attack {
	password := filepath.Join(s.dir, "clickhouse", "password")
	list := []attack{
		// Other tables.
		{noAccess, "SELECT * FROM deadletters"},
		{noAccess, "SELECT * FROM log_progress"},
		{noAccess, "SELECT * FROM schema_migrations"},
		{noAccess, "SELECT * FROM answer_daily_view"},
		{noAccess, "SELECT * FROM log_position(topic = '', partition = 0)"},
		{noAccess, "SHOW CREATE TABLE deadletters"},
		{noAccess, "DESCRIBE TABLE deadletters"},
		{noAccess, "EXISTS TABLE deadletters"},
		{noAccess, "SELECT hasColumnInTable('answerscope', 'deadletters', 'value')"},
		{noAccess, "USE audit"},

		// What the server knows of itself and of others.
		{noAccess, "SELECT * FROM audit.query_log"},
		{noAccess, "SELECT * FROM system.processes"},
		{noAccess, "SHOW PROCESSLIST"},
		{noAccess, "SELECT * FROM system.users"},
		{noAccess, "SELECT * FROM system.row_policies"},
		{noAccess, "SELECT * FROM system.parts"},
		{noAccess, "SELECT * FROM system.parts_columns"},
		{noAccess, "SELECT * FROM system.server_settings"},
		{noAccess, "SELECT * FROM system.stack_trace"},
		{noAccess, "SELECT * FROM system.query_cache"},
		{noAccess, "SELECT * FROM system.named_collections"},
		{noAccess, "SHOW USERS"},
		{noAccess, "SHOW ACCESS"},
		{noAccess, "SHOW GRANTS FOR answerscope"},
		{noAccess, "SHOW CREATE USER answerscope"},
		{noAccess, "SELECT demangle('x')"},
		{noAccess, "SELECT addressToLine(1)"},

		// Files, programs and addresses.
		{noFiles, "SELECT file('" + password + "')"},
		{noFiles, "SELECT COLUMNS('p') APPLY(file) FROM (SELECT '" + password + "' AS p)"},
		{noAccess, "SELECT * FROM file('" + password + "', 'LineAsString')"},
		{noAccess, "SELECT * FROM filesystem('/')"},
		{noAccess, "SELECT * FROM url('http://" + s.http + "/', 'LineAsString')"},
		{noAccess, "SELECT * FROM s3('http://" + s.http + "/bucket/key', 'LineAsString')"},
		{noAccess, "SELECT * FROM hdfs('hdfs://x/y', 'LineAsString')"},
		{noAccess, "SELECT * FROM azureBlobStorage('http://x', 'c', 'b', 'a', 'k', 'CSV')"},
		{noAccess, "SELECT * FROM remote('" + s.address + "', 'answerscope', 'answers')"},
		{noAccess, "SELECT * FROM remoteSecure('" + s.address + "', 'answerscope', 'answers')"},
		{noAccess, "SELECT * FROM cluster('elsewhere', 'answerscope', 'answers')"},
		{noAccess, "SELECT * FROM clusterAllReplicas('elsewhere', 'answerscope', 'answers')"},
		{noAccess, "SELECT * FROM mysql('" + s.address + "', 'd', 't', 'u', 'p')"},
		{noAccess, "SELECT * FROM postgresql('" + s.address + "', 'd', 't', 'u', 'p')"},
		{noAccess, "SELECT * FROM mongodb('" + s.address + "', 'd', 't', 'u', 'p', 'a Int8')"},
		{noAccess, "SELECT * FROM redis('" + s.address + "', 'k', 'k String, v String')"},
		{noAccess, "SELECT * FROM sqlite('x.db', 't')"},
		{noAccess, "SELECT * FROM odbc('DSN=x', 'd', 't')"},
		{noAccess, "SELECT * FROM jdbc('x', 'd', 't')"},
		{noAccess, "SELECT * FROM executable('x.sh', 'TSV', 'a String')"},
		{noInput, "SELECT * FROM input('a String')"},
		{noAccess, "SELECT * FROM format(Avro, 'x')"},
		{noAccess, "SELECT * FROM dictionary('names')"},
		{noAccess, "SELECT * FROM names"},
		{noAccess, "SELECT dictGet('names', 'v', 1)"},
		{noAccess, "SELECT * FROM loop('answerscope', 'answers')"},
		{noAccess, "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))"},
		{experimental, "SELECT * FROM eval('SELECT 1')"},
		{experimental, "SELECT aiGenerate('x', 'y')"},
		{notAllowed, "SELECT getClientHTTPHeader('Authorization')"},
		{fixedSetting, "SELECT 1 FORMAT Template SETTINGS format_template_resultset = '" + password + "'"},
		{fixedSetting, "SELECT 1 FORMAT Protobuf SETTINGS format_schema = '" + password + ":M'"},
		{fixedSetting, "SELECT 1 FORMAT Protobuf SETTINGS output_format_schema = '/tmp/x.proto'"},
		{fixedSetting, "SELECT 1 SETTINGS format_avro_schema_registry_url = 'http://" + s.http + "'"},

		// Changes.
		{noAccess, "INSERT INTO answers (id) VALUES (generateUUIDv4())"},
		{noAccess, "INSERT INTO dimension_brands SELECT * FROM dimension_brands"},
		{noAccess, "INSERT INTO FUNCTION file('/tmp/x', 'CSV') SELECT 1"},
		{noAccess, "ALTER TABLE answers DELETE WHERE 1"},
		{noAccess, "ALTER TABLE answers ADD COLUMN x Int8"},
		{noAccess, "DELETE FROM answers WHERE 1"},
		{noAccess, "UPDATE answers SET text = '' WHERE 1"},
		{noAccess, "CREATE TABLE x (a Int8) ENGINE = Memory"},
		{noAccess, "CREATE TEMPORARY TABLE x (a Int8)"},
		{noAccess, "CREATE VIEW x AS SELECT 1"},
		{noAccess, "CREATE OR REPLACE VIEW brand_visibility AS SELECT 1"},
		{noAccess, "CREATE FUNCTION x AS a -> a"},
		{noAccess, "DROP FUNCTION answerscope_score"},
		{noAccess, "CREATE DATABASE x"},
		{noAccess, "CREATE DICTIONARY x (a Int8) PRIMARY KEY a SOURCE(CLICKHOUSE(TABLE 'answers')) LAYOUT(FLAT()) " +
			"LIFETIME(0)"},
		{noAccess, "CREATE USER x"},
		{noAccess, "GRANT SELECT ON *.* TO analyst_acme_ana"},
		{noAccess, "CREATE ROW POLICY x ON answerscope.answers USING 1 TO analyst_acme_ana"},
		{noAccess, "ALTER USER analyst_acme_ana SETTINGS readonly = 0"},
		{noAccess, "DROP TABLE answers"},
		{noAccess, "TRUNCATE TABLE answers"},
		{noAccess, "RENAME TABLE answers TO x"},
		{noAccess, "EXCHANGE TABLES answers AND visits"},
		{noAccess, "DETACH TABLE answers"},
		{noAccess, "ATTACH TABLE x (a Int8) ENGINE = Memory"},
		{noAccess, "OPTIMIZE TABLE answers"},
		{noAccess, "CHECK TABLE answers"},
		{noAccess, "BACKUP TABLE answers TO File('/tmp/x')"},
		{noAccess, "RESTORE TABLE answers FROM File('/tmp/x')"},
		{noAccess, "KILL QUERY WHERE 1"},
		{noAccess, "KILL MUTATION WHERE 1"},
		{noAccess, "SYSTEM FLUSH LOGS"},
		{noAccess, "SYSTEM STOP MERGES answers"},
		{noAccess, "SYSTEM SHUTDOWN"},
		{noAccess, "SYSTEM DROP QUERY CACHE"},
		{experimental, "EXECUTE AS answerscope SELECT * FROM deadletters"},
		{unknownRole, "SET ROLE admin"},

		// Limits, and what goes beyond them.
		{beyondLimit, "SELECT 1 SETTINGS max_execution_time = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_execution_time = 601"},
		{beyondLimit, "SELECT 1 SETTINGS max_memory_usage = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_memory_usage = 1000000001"},
		{beyondLimit, "SELECT 1 SETTINGS max_rows_to_read = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_bytes_to_read = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_result_rows = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_result_bytes = 0"},
		{beyondLimit, "SELECT 1 SETTINGS max_threads = 64"},
		{beyondLimit, "SELECT 1 SETTINGS max_block_size = 1000000000"},
		{tooManyRows, "SELECT count() FROM numbers(100000000000000)"},
		{tooManyRows, "SELECT sum(number) FROM numbers_mt(100000000000000)"},
		{outOfTime, "SELECT count() FROM (SELECT a.number FROM numbers(900000000) AS a CROSS JOIN numbers(10000) AS " +
			"b) SETTINGS max_execution_time = 1"},
		{outOfTime, "SELECT sleepEachRow(0.001) FROM numbers(100000) FORMAT Null SETTINGS max_execution_time = 1, " +
			"max_block_size = 1024"},
		{tooManyResults, "SELECT number FROM numbers(2000000)"},
		{tooMuchMemory, "SELECT groupArray(number) FROM numbers(900000000) FORMAT Null"},
		{tooMuchMemory, "SELECT length(repeat('x', 999999999)) + length(repeat('y', 999999998)) FROM numbers(2)"},
		{tooSlow, "SELECT sleep(4)"},
	}
	// Settings that would turn off a filter or a limit, run something else or reach out.
	for _, setting := range []string{
		"readonly = 0", "readonly = 2", "allow_introspection_functions = 1", "log_queries = 0",
		"additional_table_filters = {'answers': '1'}", "additional_result_filter = '1'", "enable_analyzer = 0",
		"allow_experimental_analyzer = 0",
		"max_memory_usage_for_user = 0", "max_concurrent_queries_for_user = 0",
		"max_temporary_data_on_disk_size_for_user = 0",
		"max_untracked_memory = 100000000000", "memory_overcommit_ratio_denominator = 0", "max_parser_depth = 0",
		"max_subquery_depth = 0",
		"function_sleep_max_microseconds_per_block = 0", "function_range_max_elements_in_block = 1000000000000",
		"use_query_cache = 1", "query_cache_share_between_users = 1", "query_cache_system_table_handling = 'save'",
		"dialect = 'kusto'", "allow_experimental_eval_table_function = 1", "allow_experimental_ai_functions = 1",
		"ast_fuzzer_runs = 1",
		"cluster_for_parallel_replicas = 'x'", "enable_parallel_replicas = 1", "max_parallel_replicas = 9",
		"priority = 1", "os_thread_priority = -20",
		"send_logs_level = 'trace'", "workload = 'x'", "http_response_headers = {'x': 'y'}",
		"allow_get_client_http_header = 1",
		"opentelemetry_start_trace_probability = 1", "replace_running_query = 1", "sleep_in_send_data_ms = 9",
		"format_schema_source = 'query'",
		"rename_files_after_processing = 'x'", "promql_table = 'answers'", "query_profiler_real_time_period_ns = 1",
	} {
		list = append(list, attack{fixedSetting, "SELECT 1 SETTINGS " + setting})
	}
	return append(list, attack{noDDL, "SELECT 1 SETTINGS allow_ddl = 1"}, attack{fixedSetting, "SET readonly = 0"},
		attack{beyondLimit, "SET max_memory_usage = 0"}, attack{fixedSetting, "SET enable_analyzer = 0"})
}

// Every attack comes by plain HTTP and by the native protocol.
func (s *stage) areRefused(t *testing.T) {
	for _, statement := range []string{"SYSTEM FLUSH LOGS",
		"CREATE DICTIONARY names (n UInt64, v String) PRIMARY KEY n SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)"} {
		s.must(t, s.owner, statement)
	}
	conn := s.clients(t, s.ana, nil)["native"]
	for _, a := range attacks(s) {
		t.Run(a.statement, func(t *testing.T) {
			if code, body := s.ask(t, s.ana, a.statement); code != a.code {
				t.Errorf("HTTP: code %d, %.500s; want %d", code, body, a.code)
			}
			// What works until a limit takes seconds of CPU: in make test it does so by HTTP alone.
			if !testkit.All && (a.code == tooMuchMemory || a.code == outOfTime) {
				return
			}
			err := native(t, conn, a.statement)
			var refused *driver.Exception
			if !errors.As(err, &refused) || int(refused.Code) != a.code {
				t.Errorf("native: %v; want %d", err, a.code)
			}
		})
	}
	// What a statement does is among the bytes of it that the log keeps.
	if code, body := s.ask(t, s.ana, "/*"+strings.Repeat("a", 100_000)+"*/ SELECT text FROM answers"); code != tooLong {
		t.Errorf("behind a long comment: code %d, %.500s", code, body)
	}
	// The native protocol leaves files to its clients.
	if code, body := s.ask(t, s.ana, "SELECT 1 INTO OUTFILE '/tmp/x'"); code != noOutfile {
		t.Errorf("into outfile: code %d, %s", code, body)
	}
	// Of no table in particular it is answered, and stops none that the analyst may not stop.
	s.must(t, s.ana, "SYSTEM STOP MERGES")
	s.must(t, s.owner, "OPTIMIZE TABLE answers FINAL SETTINGS optimize_throw_if_noop = 1")
	for _, table := range []string{"answers", "visits"} {
		if got := s.must(t, s.owner, "SELECT count() FROM "+table); got != "4\n" {
			t.Errorf("%s has %s rows after all, want 4", table, got)
		}
	}
}

// native sends a statement and reads everything that comes.
func native(t *testing.T, conn driver.Conn, statement string) error {
	t.Helper()
	rows, err := conn.Query(t.Context(), strings.Split(statement, " FORMAT ")[0]+settingsOf(statement))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// settingsOf returns what follows FORMAT … in a statement that the driver cannot send with one.
func settingsOf(statement string) string {
	_, after, ok := strings.Cut(statement, " FORMAT ")
	if _, settings, ok := strings.Cut(after, " SETTINGS "); ok {
		return " SETTINGS " + settings
	}
	if ok && !strings.Contains(statement, "SELECT") {
		return " FORMAT " + after
	}
	return ""
}

// Table functions for which no grant is asked. Whatever a later engine has more of is looked at before it is let in.
func (s *stage) findNoUnknownTableFunction(t *testing.T) {
	harmless := []string{ // they make rows of nothing, or of what the analyst may read
		"SQLStandardValues", "fuzzJSON", "fuzzQuery", "generateRandom", "generateSeries", "generate_series", "null",
		"numbers", "numbers_mt",
		"primes", "values", "view", "viewIfPermitted", "zeros", "zeros_mt", "merge",
	}
	emptied := slices.Collect(maps.Keys(s.indexReaders(t))) // they would return keys of all rows; see the next test
	otherwise := map[string]string{
		"eval": "experimental: see attacks", "input": "in an insert alone: see attacks",
		"cluster": "refused: see attacks", "clusterAllReplicas": "refused: see attacks",
		"prometheusQuery": "of TimeSeries tables alone", "prometheusQueryRange": "of TimeSeries tables alone",
	}
	for line := range strings.Lines(s.must(t, s.owner, "SELECT name, allow_readonly FROM system.table_functions "+
		"ORDER BY name")) {
		name, free, _ := strings.Cut(strings.TrimSpace(line), "\t")
		_, excused := otherwise[name]
		if free == "1" && !excused && !slices.Contains(harmless, name) && !slices.Contains(emptied, name) {
			t.Errorf("table function %s asks for no grant: what does it read?", name)
		}
	}
}

// indexReaders are calls of the functions that return keys of all rows, by their names.
func (s *stage) indexReaders(t *testing.T) map[string][]string {
	t.Helper()
	uuid := strings.TrimSpace(s.must(t, s.owner,
		"SELECT uuid FROM system.tables WHERE database = currentDatabase() AND name = 'answers'"))
	return map[string][]string{
		"mergeTreeIndex":              {"(answerscope, answers)", "(answerscope, answers, with_marks = true)"},
		"mergeTreeAnalyzeIndexes":     {"(answerscope, answers)"},
		"mergeTreeAnalyzeIndexesUUID": {"('" + uuid + "')"},
		"mergeTreeProjection":         {"(answerscope, answers, readings)"},
		"mergeTreeTextIndex":          nil, // no table has such an index
	}
}

// mergeTreeIndex returned the keys of other organizations' rows to users who read the table through a filter.
func (s *stage) doNotReadIndexes(t *testing.T) {
	configuration, err := schema.Analyst{
		Name: "ana", Organization: "acme", OrganizationID: id(t, organizationA),
		PasswordSCRAM: schema.PasswordSCRAM("x"), Database: engine.Database,
	}.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	readers := s.indexReaders(t)
	if n := strings.Count(string(configuration), "<filter>0</filter>"); n != len(readers) {
		t.Errorf("an analyst's file empties %d functions, this test knows %d", n, len(readers))
	}
	var sources []string
	for name, calls := range readers {
		for _, call := range calls {
			sources = append(sources, name+call)
		}
		if !strings.Contains(string(configuration), "<"+name+"><filter>0</filter>") {
			t.Errorf("an analyst's file does not empty %s", name)
		}
	}
	for _, from := range sources {
		if got := s.must(t, s.owner, "SELECT count() > 0 FROM "+from); got != "1\n" {
			t.Errorf("%s returns nothing to its owner: this proves nothing", from)
		}
		for _, query := range []string{
			"SELECT * FROM " + from,
			"SELECT * FROM view(SELECT * FROM " + from + ")",
			"SELECT * FROM viewIfPermitted(SELECT 1 AS x FROM " + from + " ELSE null('x UInt8'))",
			"WITH x AS (SELECT * FROM " + from + ") SELECT * FROM x",
			"SELECT toString((SELECT groupArray(tuple(*)) FROM " + from + "))",
			"SELECT * FROM numbers(1) AS n INNER JOIN " + from + " AS m ON 1",
		} {
			if got := s.must(t, s.ana, query); got != "" && got != "[]\n" {
				t.Errorf("%s returned %s", query, got)
			}
		}
	}
}

// Nothing of another organization comes through a question about one's own tables.
func (s *stage) learnNothingOfOthers(t *testing.T) {
	for _, query := range []string{
		"SELECT count() FROM answers WHERE throwIf(organization_id = '" + organizationB + "') = 0",
		"SELECT count() FROM answers PREWHERE throwIf(text LIKE '%" + organizationB + "') = 0",
		"SELECT count() FROM answers WHERE organization_id = '" + organizationB + "' OR 1",
		"SELECT count() FROM merge('answerscope', '^answers$')",
		"SELECT 1 + uniqExact(a.organization_id) FROM answers AS a INNER JOIN visits AS v ON 1 INNER JOIN " +
			"dimension_brands AS b ON 1",
		"SELECT count() FROM view(SELECT * FROM answers)",
		"SELECT countIf(1) FROM (SELECT * FROM answers UNION DISTINCT SELECT * FROM answers)",
	} {
		if got := s.must(t, s.ana, query); got != "2\n" {
			t.Errorf("%s: %q, want ana's 2 rows", query, got)
		}
	}
	for _, query := range []string{
		"SELECT min(organization_id), max(organization_id), any(brand_id), groupUniqArray(prompt_text) FROM answers",
		"SELECT * FROM answers",
		"EXPLAIN indexes = 1, actions = 1 SELECT * FROM answers WHERE brand_id = '" + brandA + "'",
		"EXPLAIN QUERY TREE SELECT * FROM answers",
		"SHOW GRANTS",
		"SELECT * FROM system.tables FORMAT Vertical",
		"SELECT * FROM system.columns FORMAT Vertical",
		"SELECT * FROM system.databases FORMAT Vertical",
		"SELECT * FROM system.quota_usage FORMAT Vertical",
		"SELECT * FROM system.settings FORMAT Vertical",
		"SELECT * FROM system.completions",
	} {
		got := s.must(t, s.ana, query)
		for _, secret := range []string{organizationB, brandB, "globex", s.bob.user,
			schema.PasswordSCRAM(s.ana.password), s.owner.password} {
			if strings.Contains(got, secret) {
				t.Errorf("%s returned %s", query, secret)
			}
		}
	}
	if got := s.must(t, s.ana, "EXPLAIN ESTIMATE SELECT * FROM answers WHERE organization_id = "+
		"'"+organizationB+"'"); strings.HasPrefix(got, "answerscope\tanswers\t") &&
		!strings.HasSuffix(got, "\t0\t0\t0\n") {
		t.Errorf("an estimate shows B: %s", got)
	}
}
