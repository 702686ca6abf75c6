package clickhouse_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch may hold 20,000 answers. Over HTTP parameters travel in the address,
// and a lookup of all at once was refused for ever.
func TestALargeLookupPassesBothProtocols(t *testing.T) {
	t.Parallel()
	native := store.Warehouse(t)
	database, err := url.Parse(native.DSN)
	if err != nil {
		t.Fatal(err)
	}
	address, user := testkit.ClickHouseHTTP(t)
	web := native
	web.DSN = (&url.URL{Scheme: "http", User: user, Host: address, Path: database.Path}).String()

	landed := warehouse.Answer(0, warehouse.Day)
	if err := clickhouse.Answers.Insert(t.Context(), store.OpenWarehouse(t, native), "a",
		[]clickhouse.AnswerRow{landed}); err != nil {
		t.Fatal(err)
	}
	keys := []clickhouse.Key{{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand, ID: landed.ID}}
	for n := range 20_000 {
		other := uuid.NewV5(uuid.UUID(warehouse.Brand), fmt.Sprint(n))
		id := event.RunID(event.Identity{BrandID: other, Sample: 1, Due: warehouse.Day.AddDate(0, 0, n%60)})
		keys = append(keys, clickhouse.Key{OrganizationID: clickhouse.UUID(other), BrandID: clickhouse.UUID(other),
			ID: clickhouse.UUID(id)})
	}
	for name, c := range map[string]clickhouse.Config{"native": native, "http": web} {
		found, err := clickhouse.LandedAnswers(t.Context(), store.OpenWarehouse(t, c), keys, clickhouse.LogLimit{})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: found %d, %v; want 1", name, len(found), err)
		}
	}
}
