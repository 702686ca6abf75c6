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
		Tables, Views, Indexes []string
	}{a, a.tables(), organizationViews(), indexReaders})
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

var organizationKey = regexp.MustCompile(`(?m)^\s*organization_id\s+UUID\b`)

// OrganizationTables are the tables of the schema whose rows belong to organizations.
func OrganizationTables() []string {
	var tables []string
	for _, s := range allStatements() {
		if m := createTable.FindStringSubmatch(s); m != nil && organizationKey.MatchString(s) {
			tables = append(tables, m[1])
		}
		if m := dropTable.FindStringSubmatch(s); m != nil {
			tables = slices.DeleteFunc(tables, func(table string) bool { return table == m[1] })
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
