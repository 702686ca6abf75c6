package schema_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/deploy/engine"
)

// What an analyst does all day works, over both protocols, with the settings that clients send by themselves.
func (s *stage) work(t *testing.T) {
	call, params := viewCall(t, "brand_visibility", organizationA, brandA)
	for i := 0; i < len(params); i += 2 {
		name := strings.TrimPrefix(params[i], "param_")
		_, kind, _ := strings.Cut(call, "{"+name+":")
		kind, _, _ = strings.Cut(kind, "}")
		call = strings.ReplaceAll(call, "{"+name+":"+kind+"}", "'"+params[i+1]+"'")
	}
	call = strings.TrimSuffix(strings.ReplaceAll(call, "'[]'", "[]"), " FORMAT TSV")
	queries := []string{
		"SELECT 1",
		"SELECT * FROM answers LIMIT 1000",
		"SELECT * FROM dimension_brands FINAL",
		call,
		"SELECT a.day, b.name, count() FROM answers AS a INNER JOIN dimension_brands AS b ON b.id = a.brand_id " +
			"GROUP BY ALL ORDER BY ALL",
		"WITH daily AS (SELECT day, sum(mentions) AS mentions FROM entity_prompt_daily GROUP BY day) SELECT day, " +
			"mentions, sum(mentions) OVER (ORDER BY day) FROM daily",
		"SELECT toStartOfWeek(day) AS week, uniqExact(prompt_id), quantile(0.9)(latency_ms) FROM answers GROUP BY " +
			"week ORDER BY week WITH FILL STEP 7",
		"SELECT arrayJoin([1, 2, 3]) AS x, number FROM numbers(3) UNION ALL SELECT 1, 2",
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT max(i) FROM n",
		"SELECT * FROM values('url String, weight Float64', ('a', 1), ('b', 2)) AS mine LEFT JOIN citations USING " +
			"(url)",
		"SELECT answerscope_score(10, 5, 2, 5354228880)",
		"EXPLAIN SELECT count() FROM answers",
		"EXPLAIN PIPELINE SELECT count() FROM answers",
		"EXPLAIN ESTIMATE SELECT count() FROM answers",
		"EXPLAIN SYNTAX SELECT count() FROM answers",
		"SHOW DATABASES", "SHOW TABLES", "SHOW COLUMNS FROM answers", "SHOW CREATE TABLE answers",
		"SHOW CREATE VIEW brand_visibility", "DESCRIBE TABLE answers",
		"SELECT name, comment FROM system.tables WHERE database = currentDatabase()",
		"SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase()",
		"SELECT name FROM system.functions WHERE name ILIKE 'array%'",
		"SELECT name, value FROM system.settings WHERE changed",
		"SELECT currentUser(), version(), timezone()",
		"SELECT 1 SETTINGS max_execution_time = 600, max_threads = 1, max_result_rows = 200, result_overflow_mode = " +
			"'break', output_format_json_quote_64bit_integers = 0",
		"SELECT 1 SETTINGS readonly = 1, max_memory_usage = 1000000000, max_parser_depth = 1000", // as they are
	}
	for protocol, conn := range s.clients(t, s.ana, driver.Settings{"max_block_size": 10000, "send_timeout": 30,
		"receive_timeout": 30}) {
		if err := conn.Exec(t.Context(), "SET join_use_nulls = 0"); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		for _, query := range queries {
			// A deadline becomes max_execution_time, in the driver.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			rows, err := conn.Query(ctx, query)
			if err == nil {
				for rows.Next() {
				}
				err = rows.Err()
				_ = rows.Close()
			}
			cancel()
			if err != nil {
				t.Errorf("%s: %s: %v", protocol, query, err)
			}
		}
	}
	for _, query := range queries {
		if code, body := s.ask(t, s.ana, query, "max_execution_time", "30", "wait_end_of_query", "1",
			"send_progress_in_http_headers", "1",
			"async_insert", "0", "add_http_cors_header", "1", "max_query_size", "90000", "compress", "0"); code != 0 {
			t.Errorf("plain HTTP: %s: %s", query, body)
		}
	}
}

// Programs connect with an address, browsers and spreadsheets with GET, and some keep a session.
func (s *stage) connectAsTheyLike(t *testing.T) {
	account := url.UserPassword(s.ana.user, s.ana.password)
	for _, u := range []url.URL{
		{Scheme: "clickhouse", User: account, Host: s.address, Path: engine.Database,
			RawQuery: "max_execution_time=30&dial_timeout=5s&compress=lz4"},
		{Scheme: "http", User: account, Host: s.http, Path: engine.Database,
			RawQuery: "max_execution_time=30&compress=gzip"},
	} {
		db, err := sql.Open("clickhouse", u.String())
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT count() FROM answers").Scan(&n); err != nil || n != 2 {
			t.Errorf("%s: %d, %v; want 2", u.Scheme, n, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	get := url.URL{Scheme: "http", User: account, Host: s.http, Path: "/", RawQuery: url.Values{
		"query": {"SELECT count() FROM answers FORMAT CSVWithNames"}, "database": {engine.Database},
		"session_id": {"mine"}, "session_timeout": {"60"},
	}.Encode()}
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, get.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET: %s", response.Status)
		}
	}
}
