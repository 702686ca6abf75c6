package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Partitions is how many partitions each topic of an installation has.
const Partitions = 2

// An Installation is stores of its own on the engines that tests share, with organization acme and a key of it, and the
// settings with which commands use them. Tests of the embedded engines have a MigratedDir instead, which costs three
// engines more.
type Installation struct {
	*Server      // nil until start
	Env          []string
	Prefix       string // of topics and groups
	DB           *postgres.DB
	Warehouse    *clickhouse.Conn
	Organization postgres.Organization
	Key          string
}

// Install prepares an installation whose brokers are of this test, nil for the shared one.
func Install(t *testing.T, brokers []string, settings ...string) *Installation {
	t.Helper()
	i := Stores(t, brokers, settings...)
	i.Organization, i.Key = i.Organize(t, "acme")
	return i
}

// Stores is Install without an organization.
func Stores(t *testing.T, brokers []string, settings ...string) *Installation {
	t.Helper()
	control, warehouse := store.ControlPlane(t), store.CompleteWarehouse(t)
	i := &Installation{DB: store.OpenControlPlane(t, control), Warehouse: store.OpenWarehouse(t, warehouse)}
	if brokers == nil {
		brokers, i.Prefix = testkit.Kafka(t), testkit.Prefix(t)
	}
	i.Env = append([]string{
		"ANSWERSCOPE_DATA_DIR=" + DataDir(t), "ANSWERSCOPE_POSTGRES_DSN=" + control.DSN,
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + warehouse.DSN,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + i.Prefix,
		fmt.Sprintf("ANSWERSCOPE_KAFKA_PARTITIONS=%d", Partitions),
	}, settings...)
	return i
}

// Installed is a running installation on the shared broker.
func Installed(t *testing.T, settings ...string) *Installation {
	t.Helper()
	i := Install(t, nil, settings...)
	i.Start(t)
	return i
}

// Start runs everything, in place of a process that has ended.
func (i *Installation) Start(t *testing.T) {
	t.Helper()
	i.Server = Serve(t, i.Env, "all")
}

// Organize adds an organization with a user, and returns a key of theirs.
func (i *Installation) Organize(t *testing.T, slug string) (postgres.Organization, string) {
	t.Helper()
	organization, err := i.DB.AddOrganization(t.Context(), slug, slug)
	if err != nil {
		t.Fatal(err)
	}
	user, err := i.DB.AddUser(t.Context(), postgres.NewUser{
		Email: "ana@" + slug + ".example", OrganizationID: organization.ID, Role: "owner",
	})
	if err != nil {
		t.Fatal(err)
	}
	return organization, i.MintKey(t, organization.ID, user.ID, "test")
}

// MintKey adds an API key of a user and returns its text.
func (i *Installation) MintKey(t *testing.T, organization, user uuid.UUID, name string, scopes ...string) string {
	t.Helper()
	minted := auth.MintKey()
	key := postgres.NewKey{
		OrganizationID: organization, UserID: user, Name: name, Scopes: scopes, Hash: minted.Hash,
		Prefix: minted.Prefix,
	}
	if _, err := i.DB.AddKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return minted.Text
}

// AddBrands adds the brands of a file, and returns the first one's id.
func (i *Installation) AddBrands(t *testing.T, organization uuid.UUID, file string) (first string) {
	t.Helper()
	specs, err := imports.ReadBrands(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		brand, _, err := i.DB.AddBrand(t.Context(), organization, spec)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = brand.ID.String()
		}
	}
	return first
}

// SettingOf is the value of a setting.
func (i *Installation) SettingOf(name string) string {
	for _, entry := range i.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Edit changes the control plane.
func (i *Installation) Edit(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := i.DB.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}
