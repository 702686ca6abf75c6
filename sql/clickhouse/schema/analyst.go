package schema

import (
	"bytes"
	"cmp"
	"crypto/pbkdf2"
	"crypto/sha256"
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

// An Analyst is a user of the server who sends SQL and reads the rows of one organization. Access is a file of the
// server's configuration (users.d): the embedded engine has no other way.
type Analyst struct {
	Name           string          `xml:"name"`                      // unique in the organization
	Organization   string          `xml:"organization"`              // its slug when the analyst was added
	OrganizationID clickhouse.UUID `xml:"organization_id"`           // owner of the visible rows
	Database       string          `xml:"database"`                  // of the tables
	PasswordSCRAM  string          `xml:"password_scram_sha256_hex"` // see PasswordSCRAM
	PasswordSHA256 string          `xml:"password_sha256_hex"`       // hex, in files of earlier releases
	Since          time.Time       `xml:"since"`
	Sharded        bool            `xml:"sharded"` // the tables are on a cluster
}

var (
	slugPattern     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	databasePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sha256Pattern   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// maxSlug bounds a name and a slug, so that a login can name a file.
const maxSlug = 100

// Validate reports all mistakes at once. The fields become XML and the name of a file.
func (a Analyst) Validate() error {
	var errs []error
	if !slugPattern.MatchString(a.Name) || len(a.Name) > maxSlug {
		errs = append(errs, fmt.Errorf("analyst name %q: want at most %d of a–z, 0–9 and single hyphens between them",
			a.Name, maxSlug))
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if a.Organization == "" || !utf8.ValidString(a.Organization) || strings.ContainsFunc(a.Organization, unprintable) {
		errs = append(errs, fmt.Errorf("organization slug %q: want printable text", a.Organization))
	}
	if a.OrganizationID == (clickhouse.UUID{}) {
		errs = append(errs, errors.New("organization id: want one that is not nil"))
	}
	if !databasePattern.MatchString(a.Database) {
		errs = append(errs, fmt.Errorf("database %q: want letters, digits and _", a.Database))
	}
	if !sha256Pattern.MatchString(cmp.Or(a.PasswordSCRAM, a.PasswordSHA256)) {
		errs = append(errs, errors.New("password hash: want 64 hexadecimal digits"))
	}
	return errors.Join(errs...)
}

// PasswordSCRAM returns the hash of a password for a server's file of users, in hexadecimal: PBKDF2 of RFC 5802 with
// the 4,096 rounds and the empty salt that the server presumes there. The alternative is one round of SHA-256, also
// unsalted.
func PasswordSCRAM(password string) string {
	const rounds = 4096
	key, err := pbkdf2.Key(sha256.New, password, nil, rounds, sha256.Size)
	if err != nil {
		panic(err) // only for keys and salts that FIPS forbids
	}
	return hex.EncodeToString(key)
}

// Login is the user's name on the server and the name of the file: analyst_SLUG_NAME, or analyst__ID_NAME if the slug
// has other characters than a–z, 0–9 and hyphens. No part has a _, so two analysts never share a login.
func (a Analyst) Login() string {
	organization := a.Organization
	if !slugPattern.MatchString(organization) || len(organization) > maxSlug {
		organization = "_" + hex.EncodeToString(a.OrganizationID[:])
	}
	return "analyst_" + organization + "_" + a.Name
}

//go:embed analyst.xml
var analystXML string

var analystTemplate = template.Must(template.New("analyst.xml").Parse(analystXML))

// Configuration returns the file for users.d. It depends only on the analyst and on this release's schema.
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

// tables lists the readable tables. In a cluster another server reads a shard's tables as the analyst.
func (a Analyst) tables() []string {
	tables := OrganizationTables()
	if !a.Sharded {
		return tables
	}
	for _, table := range tables {
		if !clickhouse.IsDimension(table) {
			tables = append(tables, table+clickhouse.LocalSuffix)
		}
	}
	return tables
}

// errForeign is returned for a file of users that this program did not write.
var errForeign = errors.New("it has no answerscope_analyst")

// readAnalyst reads the output of Configuration.
func readAnalyst(text []byte) (Analyst, error) {
	var file struct {
		Analyst Analyst `xml:"answerscope_analyst"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		return Analyst{}, err
	}
	if file.Analyst.Name == "" {
		return Analyst{}, errForeign
	}
	return file.Analyst, file.Analyst.Validate()
}

var organizationKey = regexp.MustCompile(`(?m)^\s*organization_id\s+UUID\b`)

// OrganizationTables lists the tables of the schema whose rows belong to organizations.
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

// organizationViews lists the named views with the parameter organization_id, and those without parameters. The
// pipeline uses the others, and look-ups of rows by their ids are for the API.
func organizationViews() []string {
	views := slices.DeleteFunc(definitionNames("query"), func(name string) bool {
		text := mustRead("query/" + name + ".sql")
		return !strings.Contains(text, "{organization_id:UUID}") || strings.Contains(text, "{ids:Array(UUID)}")
	})
	for _, view := range plainViews {
		views = append(views, view.name)
	}
	return views
}

// indexReaders are table functions that return the keys of a table's rows, past the row filters and without a grant.
// Row filters for tables of the database _table_function apply to them.
var indexReaders = []string{
	"mergeTreeAnalyzeIndexes", "mergeTreeAnalyzeIndexesUUID", "mergeTreeIndex", "mergeTreeProjection",
	"mergeTreeTextIndex",
}
