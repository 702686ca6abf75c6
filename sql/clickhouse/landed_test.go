package clickhouse_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch may hold 20,000 answers. Over HTTP parameters travel in the address,
// and a lookup of all at once was refused for ever.
func TestALargeLookupPassesBothProtocols(t *testing.T) {
	native := config(t)
	if err := clickhouse.Migrate(t.Context(), native, func(string) {}); err != nil {
		t.Fatal(err)
	}
	database, err := url.Parse(native.DSN)
	if err != nil {
		t.Fatal(err)
	}
	address, user := testkit.ClickHouseHTTP(t)
	web := native
	web.DSN = (&url.URL{Scheme: "http", User: user, Host: address, Path: database.Path}).String()

	landed := answer(0, day)
	if err := clickhouse.Answers.Insert(t.Context(), open(t, native), "a", []clickhouse.AnswerRow{landed}); err != nil {
		t.Fatal(err)
	}
	keys := []clickhouse.AnswerKey{{OrganizationID: organization, BrandID: brand, ID: landed.ID}}
	for n := range 20_000 {
		other := uuid.NewV5(uuid.UUID(brand), fmt.Sprint(n))
		id := event.RunID(event.Identity{BrandID: other, Sample: 1, Due: day.AddDate(0, 0, n%60)})
		keys = append(keys, clickhouse.AnswerKey{OrganizationID: clickhouse.UUID(other), BrandID: clickhouse.UUID(other), ID: clickhouse.UUID(id)})
	}
	due := func(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }
	for name, c := range map[string]clickhouse.Config{"native": native, "http": web} {
		found, err := clickhouse.LandedAnswers(t.Context(), open(t, c), keys, due, clickhouse.Below{})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: found %d, %v; want 1", name, len(found), err)
		}
	}
}
