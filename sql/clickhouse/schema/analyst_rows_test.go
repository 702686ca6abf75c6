package schema_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// What an analyst may read is made from the files of the schema. The server must agree which tables those are, or a new
// one is left out, and which of them are tables of an organization, or one comes without a filter.
func (s *stage) readTheirRowsOfEveryTableAndNoOthers(t *testing.T) {
	engines := map[string]string{}
	var tables []string
	for line := range strings.Lines(s.must(t, s.owner,
		`SELECT name, engine FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
		AND name IN (SELECT table FROM system.columns WHERE database = currentDatabase()
			AND columns.name = 'organization_id') ORDER BY name`)) {
		table, engine, _ := strings.Cut(strings.TrimSpace(line), "\t")
		tables, engines[table] = append(tables, table), engine
	}
	if files := schema.OrganizationTables(); !slices.Equal(files, tables) || len(files) < 10 {
		t.Errorf("tables of organizations are %q in the files, %q on the server", files, tables)
	}
	for _, table := range tables {
		readings := []string{table}
		if engines[table] != "MergeTree" { // which has no FINAL
			readings = append(readings, table+" FINAL")
		}
		for _, reading := range readings {
			query := "SELECT arrayStringConcat(arraySort(groupUniqArray(toString(organization_id))), ' ') FROM " +
				reading
			for who, want := range map[login]string{s.owner: organizationA + " " + organizationB, s.ana: organizationA,
				s.bob: organizationB} {
				if got := strings.TrimSpace(s.must(t, who, query)); got != want {
					t.Errorf("%s reads rows of %q in %s, want those of %q", who.user, got, reading, want)
				}
			}
			for name, conn := range s.clients(t, s.ana, nil) {
				var seen string
				if err := conn.QueryRow(t.Context(), query).Scan(&seen); err != nil || seen != organizationA {
					t.Errorf("ana reads rows of %q in %s by the %s driver, %v", seen, reading, name, err)
				}
			}
		}
	}
	// Nothing else of the database is to be seen.
	for table := range strings.Lines(s.must(t, s.owner, "SHOW TABLES")) {
		table = strings.TrimSpace(table)
		query, params := "SELECT * FROM "+table+" LIMIT 1", []string(nil)
		if _, err := os.Stat("../query/" + table + ".sql"); err == nil {
			query, params = viewCall(t, table, organizationA, brandA)
		}
		code, body := s.ask(t, s.ana, query, params...)
		switch {
		case slices.Contains(tables, table):
		case slices.Contains(organizationViews(t), table):
		case strings.HasSuffix(table, "_last_30_days"):
		case code != noAccess:
			t.Errorf("%s: code %d, %s; want no access", table, code, body)
		}
	}
}

// A named view runs with the rights of who calls it, and so meets the filters, whichever organization it is asked for.
func (s *stage) callEveryViewForTheirOrganizationAlone(t *testing.T) {
	views := organizationViews(t)
	if len(views) < 5 {
		t.Fatalf("only %q are asked for an organization", views)
	}
	for _, view := range views {
		t.Run(view, func(t *testing.T) {
			call, ofA := viewCall(t, view, organizationA, brandA)
			ofB, mixed := viewParams(t, view, organizationB, brandB), viewParams(t, view, organizationA, brandB)
			ofNone := viewParams(t, view, unknown, brandB)
			rows, none := s.must(t, s.owner, call, ofB...), s.must(t, s.owner, call, ofNone...)
			if rows == none {
				t.Fatal("there are no rows of B: what an analyst sees proves nothing")
			}
			type asking struct {
				who  login
				args []string
				want string
			}
			cases := []asking{{s.bob, ofB, rows}, {s.ana, ofB, none}}
			if testkit.All {
				cases = append(cases,
					asking{s.ana, ofA, s.must(t, s.owner, call, ofA...)},
					asking{s.ana, mixed, s.must(t, s.owner, call, mixed...)},
					asking{s.bob, ofA, s.must(t, s.owner, call, viewParams(t, view, unknown, brandA)...)})
			}
			for _, c := range cases {
				if got := s.must(t, c.who, call, c.args...); got != c.want {
					t.Errorf("%s sees\n%sof %q, want\n%s", c.who.user, got, c.args, c.want)
				}
			}
		})
	}
}

// A client that passes no parameters lists a view with its columns and selects from it. It has the rows of the
// analyst's organization, and no others.
func (s *stage) selectFromViewsWithoutParameters(t *testing.T) {
	for _, table := range schema.OrganizationTables() {
		s.fill(t, table, "[yesterday()]")
	}
	views := strings.Fields(s.must(t, s.owner, "SELECT name FROM system.tables WHERE database = currentDatabase() "+
		"AND endsWith(name, '_last_30_days')"))
	if len(views) < 9 {
		t.Fatalf("there are only %q", views)
	}
	for _, view := range views {
		var described string
		for column := range strings.Lines(s.must(t, s.ana, "DESCRIBE "+view)) {
			name, _, _ := strings.Cut(column, "\t")
			described += name + "\n"
		}
		listed := s.must(t, s.ana, "SELECT column_name FROM information_schema.columns WHERE table_schema = "+
			"'answerscope' AND table_name = {view:String} ORDER BY ordinal_position", "param_view", view)
		if described != listed || !strings.HasPrefix(listed, "organization_id\nbrand_id\nbrand_name\n") {
			t.Errorf("%s is described with %q, listed with %q", view, described, listed)
		}
		var hers, others string
		for row := range strings.Lines(s.must(t, s.owner, "SELECT * FROM "+view+" ORDER BY ALL")) {
			if strings.HasPrefix(row, organizationA+"\t"+brandA+"\tof "+organizationA+"\t") {
				hers += row
			} else {
				others += row
			}
		}
		if got := s.must(t, s.ana, "SELECT * FROM "+view+" ORDER BY ALL"); got != hers || hers == "" || others == "" {
			t.Errorf("ana sees in %s\n%swant\n%sand not\n%s", view, got, hers, others)
		}
	}
}

// organizationViews lists the files of query/ that analysts call with one organization.
func organizationViews(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("../query")
	if err != nil {
		t.Fatal(err)
	}
	var views []string
	for _, entry := range entries {
		if text := readFile(t, "../query/"+entry.Name()); strings.Contains(text, "{organization_id:UUID}") &&
			!strings.Contains(text, "{ids:Array(UUID)}") {
			views = append(views, strings.TrimSuffix(entry.Name(), ".sql"))
		}
	}
	return views
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var declaredParameter = regexp.MustCompile(`\{(\w+):([^}]+)\}`)

// viewCall is a call of a view with every parameter that it has, and their values: all of March, no filters.
func viewCall(t *testing.T, view, organization, brand string) (call string, params []string) {
	t.Helper()
	values := map[string]string{
		"organization_id": organization, "brand_id": brand, "date_from": "2026-03-01", "date_to": "2026-03-31",
		"granularity": "day", "order": "desc", "sort_by": "visibility", "brands": "['" + brand + "']",
		"consulted": "false", "source_filter": "all",
	}
	var arguments []string
	for _, m := range declaredParameter.FindAllStringSubmatch(readFile(t, "../query/"+view+".sql"), -1) {
		name, kind := m[1], m[2]
		argument := fmt.Sprintf("%s = {%s:%s}", name, name, kind)
		if slices.Contains(arguments, argument) {
			continue
		}
		arguments = append(arguments, argument)
		value, listed := values[name]
		switch {
		case listed:
		case strings.HasPrefix(kind, "Array"):
			value = "[]"
		case strings.Contains(kind, "Int"):
			value = "100"
		case kind == "Float64":
			value = "0"
		case kind == "Bool":
			value = "true"
		case kind == "UUID":
			value = organization
		case strings.HasPrefix(kind, "Date"):
			value = "2026-03-01"
		case strings.HasPrefix(kind, "Nullable"):
			value = `\N`
		}
		params = append(params, "param_"+name, value)
	}
	if len(arguments) == 0 {
		return "SELECT * FROM " + view, nil
	}
	return "SELECT * FROM " + view + "(" + strings.Join(arguments, ", ") + ") FORMAT TSV", params
}

func viewParams(t *testing.T, view, organization, brand string) []string {
	t.Helper()
	_, params := viewCall(t, view, organization, brand)
	return params
}

// Clients list what they may read in information_schema, and nothing else is there.
func (s *stage) listTheirTables(t *testing.T) {
	want := s.must(t, s.ana, "SELECT name FROM system.tables WHERE database = 'answerscope' ORDER BY name")
	if parts := s.must(t, s.ana, "SELECT DISTINCT table FROM system.parts"); strings.Contains(parts, "deadletters") ||
		strings.Contains(parts, "query_log") {
		t.Errorf("the analyst sees the parts of %s", parts)
	}
	for _, name := range []string{"information_schema", "INFORMATION_SCHEMA"} {
		if got := s.must(t, s.ana, "SELECT table_name FROM "+name+".tables WHERE table_schema = 'answerscope' ORDER "+
			"BY table_name"); got != want || !strings.Contains(got, "answer_daily\n") ||
			strings.Contains(got, "deadletters") {
			t.Errorf("%s lists %s, want %s", name, got, want)
		}
		columns := s.must(t, s.ana, "SELECT DISTINCT table_name FROM "+name+".columns WHERE table_schema = "+
			"'answerscope'")
		if !strings.Contains(columns, "answer_daily\n") || strings.Contains(columns, "deadletters") ||
			strings.Contains(columns, "log_progress") {
			t.Errorf("%s has columns of %s", name, columns)
		}
	}
}
