package schema

import (
	"net/url"
	"testing"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An analyst is shown where the server is, and no credential or setting of its owner.
func TestAnAnalystsAddressHasNothingOfTheOwners(t *testing.T) {
	cfg := clickhouse.Config{DSN: "https://owner:hunter2@db.example:8443/warehouse?secure=true&skip_verify=true&" +
		"password=hunter2&max_execution_time=9"}
	want := url.URL{Scheme: "https", User: url.UserPassword("analyst_acme_ana", "p/w"), Host: "db.example:8443",
		Path: "/warehouse", RawQuery: "secure=true&skip_verify=true"}
	if got := AddressFor(cfg, "analyst_acme_ana", "p/w"); got != want.String() {
		t.Errorf("address is %s, want %s", got, want.String())
	}
	if cfg.Database() != "warehouse" {
		t.Errorf("database: %s", cfg.Database())
	}
}
