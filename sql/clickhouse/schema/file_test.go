package schema

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quotedOrComment = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|--[^\n]*`)

// sets is a statement that sets comments or settings, or makes a projection where it
// is lacking, and nothing else: run twice it leaves what it left the first time. It is without its texts here.
var sets = regexp.MustCompile(`^ALTER TABLE \w+(\s+(COMMENT COLUMN IF EXISTS \S+|MODIFY COMMENT|MODIFY SETTING \w+ ` +
	`=\s*[^\s,]*|MATERIALIZE PROJECTION \w+)\s*(,|$))+$`)

// golang-migrate's driver splits at every semicolon, quoted ones too, and left
// half a statement behind a dirty version when one stood in a string.
func TestMigrationsSplitOnlyBetweenStatements(t *testing.T) {
	for _, name := range migrationNames() {
		text := mustRead("migrate/" + name)
		for _, m := range quotedOrComment.FindAllString(text, -1) {
			if strings.Contains(m, ";") {
				t.Errorf("%s: a semicolon in %.60s would end a statement there", name, m)
			}
		}
		emptied := "" // the table that the statement before truncates, which an insert may fill
		for statement := range strings.SplitSeq(quotedOrComment.ReplaceAllString(text, ""), ";") {
			s := strings.TrimSpace(statement)
			fills := emptied != "" && strings.HasPrefix(s, "INSERT INTO "+emptied+"\n")
			if s != "" && s != "SELECT 1" && !strings.Contains(s, "IF NOT EXISTS") &&
				!strings.Contains(s, "IF EXISTS") && !sets.MatchString(s) && !fills {
				t.Errorf("%s: %.60s… cannot be run twice", name, s)
			}
			_, emptied, _ = strings.Cut(s, "TRUNCATE TABLE IF EXISTS ")
		}
	}
}

// Functions are created in the order of their names, while servers answer queries with them.
func TestFunctionsCallFunctionsBeforeThem(t *testing.T) {
	for _, name := range definitionNames("function") {
		_, body, _ := strings.Cut(mustRead("function/"+name+".sql"), "\n")
		for _, callee := range definitionNames("function") {
			if strings.Contains(body, callee+"(") && callee >= name {
				t.Errorf("%s calls %s, which is created after it: give that an earlier name", name, callee)
			}
		}
	}
}

// A table that takes inserts with tokens, or is the target of a view, forgets
// nothing that a replay needs only if it has a window of tokens of its own. One that
// takes inserts without tokens has none: alike ones would be dropped in silence.
func TestEveryTableOfFactsHasADeduplicationWindow(t *testing.T) {
	for _, name := range migrationNames() {
		text := mustRead("migrate/" + name)
		for statement := range strings.SplitSeq(text, ";") {
			if !strings.Contains(statement, "CREATE TABLE") || strings.Contains(statement, "dimension_") ||
				strings.Contains(statement, "deadletter_marks") {
				continue
			}
			if !strings.Contains(statement, "non_replicated_deduplication_window = 50000") {
				t.Errorf("%s: %.60s… has no deduplication window", name, strings.TrimSpace(statement))
			}
		}
	}
}

// What is acknowledged is forgotten elsewhere: offsets are committed after an insert, changes leave the outbox. A
// server that lost power must have it still, also merged and mutated, whatever its own configuration says.
func TestEveryTableIsOnTheDiskBeforeAnInsertReturns(t *testing.T) {
	const synced = "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, " +
		"old_parts_lifetime = 480"
	for _, name := range migrationNames() {
		for statement := range strings.SplitSeq(mustRead("migrate/"+name), ";") {
			if strings.Contains(statement, "CREATE TABLE") && !strings.Contains(statement, synced) {
				t.Errorf("%s: %.60s… is not synced", name, strings.TrimSpace(statement))
			}
		}
	}
}

// What a session has set must change no figure: an analyst's client that asks for NULL where a join finds nothing got
// NULL for a rival without mentions, where the API has 0.
func TestQuestionsOfOrganizationsSayWhatSettingsMayNotChange(t *testing.T) {
	const pinned = "SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0"
	texts := namedViews()
	for _, name := range organizationViews() {
		lines := strings.Split(strings.TrimSpace(texts[name]), "\n")
		if !strings.HasPrefix(lines[len(lines)-1], pinned) {
			t.Errorf("the last line of %s does not begin with %q", name, pinned)
		}
	}
}

var (
	placeholder     = regexp.MustCompile(`\{(\w+):[^}]+\}`)
	afterConditions = regexp.MustCompile(` (?:GROUP BY|UNION ALL) `)
)

// The API admits a caller to its own brands alone, and behind that a question reads every table by the organization and
// the brand: of another one's brand it says nothing. No figure shows the second wall while the first one stands.
func TestQuestionsReadEveryTableByOrganizationAndBrand(t *testing.T) {
	ofAll := []string{"last_visits", "newest_visit", "stale_brands"} // the pipeline asks them of whole tables
	reads := regexp.MustCompile(`\b(?:FROM|JOIN)\s+(` + strings.Join(OrganizationTables(), "|") + `)\b`)
	for _, wall := range []struct {
		condition *regexp.Regexp
		without   []string
	}{
		{regexp.MustCompile(`(?:WHERE|AND) organization_id (?:= \{organization(?:_id)?\}|IN \{organizations\})(?: |$)`),
			ofAll},
		// an answer is known by its id
		{regexp.MustCompile(`(?:WHERE|AND) brand_id (?:= \{brand(?:_id)?\}|IN \{brands\})(?: |$)`),
			append(ofAll, "one_answer")},
	} {
		count, open := 0, map[string]bool{}
		for _, name := range definitionNames("query") {
			text := placeholder.ReplaceAllString(quotedOrComment.ReplaceAllString(mustRead("query/"+name+".sql"), "''"),
				"{$1}")
			for _, at := range reads.FindAllStringSubmatchIndex(text, -1) {
				count++
				conditions := conditionsOf(text[at[1]:])
				if wall.condition.MatchString(conditions) && !strings.Contains(conditions, " OR ") {
					continue
				}
				if open[name] = true; !slices.Contains(wall.without, name) {
					t.Errorf("%s reads %s without %s: %s", name, text[at[2]:at[3]], wall.condition, conditions)
				}
			}
		}
		if count < 80 || len(open) != len(wall.without) {
			t.Errorf("of %d tables that are read %v are read without %s, want %q", count, open,
				wall.condition, wall.without)
		}
	}
}

// conditionsOf returns the conditions that follow a table in its SELECT, without what is in parentheses.
func conditionsOf(text string) string {
	var rest strings.Builder
	depth := 0
	for _, r := range text {
		if r == '(' {
			depth++
		}
		if depth == 0 && r != ')' {
			rest.WriteRune(r)
		}
		if r == ')' {
			depth--
		}
		if depth < 0 {
			break
		}
	}
	return afterConditions.Split(strings.Join(strings.Fields(rest.String()), " "), 2)[0]
}
