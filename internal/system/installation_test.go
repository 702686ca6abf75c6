package system

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An installation is stores of its own on the engines that tests share, with organization acme and a key of it, and the
// settings with which commands use them. Tests of the embedded engines have a migratedDir instead, which costs three
// engines more.
type installation struct {
	*server      // nil until start
	env          []string
	prefix       string // of topics and groups
	db           *postgres.DB
	warehouse    *clickhouse.Conn
	organization postgres.Organization
	key          string
}

// install prepares an installation whose brokers are of this test, nil for the shared one.
func install(t *testing.T, brokers []string, settings ...string) *installation {
	t.Helper()
	control, warehouse := store.ControlPlane(t), store.CompleteWarehouse(t)
	i := &installation{db: store.OpenControlPlane(t, control), warehouse: store.OpenWarehouse(t, warehouse)}
	if brokers == nil {
		brokers, i.prefix = testkit.Kafka(t), testkit.Prefix(t)
	}
	i.env = append([]string{
		"ANSWERSCOPE_DATA_DIR=" + dataDir(t), "ANSWERSCOPE_POSTGRES_DSN=" + control.DSN, "ANSWERSCOPE_CLICKHOUSE_DSN=" + warehouse.DSN,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + i.prefix,
		fmt.Sprintf("ANSWERSCOPE_KAFKA_PARTITIONS=%d", partitions),
	}, settings...)
	i.organization, i.key = i.organize(t, "acme")
	return i
}

// installed is a running installation on the shared broker.
func installed(t *testing.T, settings ...string) *installation {
	t.Helper()
	i := install(t, nil, settings...)
	i.start(t)
	return i
}

// start runs everything, in place of a process that has ended.
func (i *installation) start(t *testing.T) {
	t.Helper()
	i.server = serve(t, i.env, "all")
}

// organize adds an organization with a user, and returns a key of theirs.
func (i *installation) organize(t *testing.T, slug string) (postgres.Organization, string) {
	t.Helper()
	organization, err := i.db.AddOrganization(t.Context(), slug, slug)
	if err != nil {
		t.Fatal(err)
	}
	user, err := i.db.AddUser(t.Context(), postgres.NewUser{Email: "ana@" + slug + ".example", OrganizationID: organization.ID, Role: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	return organization, i.mintKey(t, organization.ID, user.ID, "test")
}

// mintKey adds an API key of a user and returns its text.
func (i *installation) mintKey(t *testing.T, organization, user uuid.UUID, name string, scopes ...string) string {
	t.Helper()
	minted := auth.MintKey()
	key := postgres.NewKey{OrganizationID: organization, UserID: user, Name: name, Scopes: scopes, Hash: minted.Hash, Prefix: minted.Prefix}
	if _, err := i.db.AddKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return minted.Text
}

// addBrands adds the brands of a file, and returns the first one's id.
func (i *installation) addBrands(t *testing.T, organization uuid.UUID, file string) (first string) {
	t.Helper()
	specs, err := imports.ReadBrands(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		brand, _, err := i.db.AddBrand(t.Context(), organization, spec)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = brand.ID.String()
		}
	}
	return first
}

// settingOf is the value of a setting.
func (i *installation) settingOf(name string) string {
	for _, entry := range i.env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// edit changes the control plane.
func (i *installation) edit(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := i.db.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// figures are what the API says of a brand, without ids, which are others on every installation.
func (i *installation) figures(t *testing.T, brand string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for _, path := range []string{"visibility-summary", "visibility-trend", "competitor-comparison", "citations", "prompt-performance", "shopping-cards", "filters", "ai-traffic", "ai-crawlers"} {
		status, body := fetch(t, i.url+"/api/v1/"+path+window(brand), i.key)
		var document any
		if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		bodies[path] = nameless(document)
	}
	return bodies
}

var anID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// nameless is a document without ids, its lists in an order that does not depend on them.
func nameless(document any) string {
	switch d := document.(type) {
	case []any:
		var all []string
		for _, one := range d {
			all = append(all, nameless(one))
		}
		slices.Sort(all)
		return "[" + strings.Join(all, ",") + "]"
	case map[string]any:
		var all []string
		for name, one := range d {
			if name != "next_cursor" { // of ids
				all = append(all, name+":"+nameless(one))
			}
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	case string:
		return anID.ReplaceAllString(d, "ID")
	}
	return fmt.Sprint(document)
}

// settled waits until the summary of a brand counts so many answers.
func (i *installation) settled(t *testing.T, brand string, answers int) {
	t.Helper()
	wait.Until(t, func() string {
		_, body := fetch(t, i.url+"/api/v1/visibility-summary"+window(brand), i.key)
		if !strings.Contains(body, fmt.Sprintf(`"resultCount":%d,`, answers)) {
			return "the summary is " + body
		}
		return ""
	})
}
