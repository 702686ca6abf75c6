package schema_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// clusterOf starts two servers that know each other, with these users. Those of testkit read theirs before a test
// begins.
func clusterOf(t *testing.T, users string) clickhouse.Config {
	t.Helper()
	var ports []string
	for range 2 {
		free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(free.Addr().String())
		ports = append(ports, port)
		if err := free.Close(); err != nil {
			t.Fatal(err)
		}
	}
	servers := "<clickhouse><remote_servers><answerscope><secret>s</secret>"
	for _, port := range ports {
		servers += "<shard><replica><host>127.0.0.1</host><port>" + port + "</port></replica></shard>"
	}
	servers += "</answerscope></remote_servers></clickhouse>"
	var shards []string
	for _, port := range ports {
		dir := t.TempDir()
		for file, text := range map[string]string{"config.d/cluster.xml": servers, "users.d/users.xml": users,
			"password": "of the tests\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var number int
		if _, err := fmt.Sscan(port, &number); err != nil {
			t.Fatal(err)
		}
		e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{Dir: dir, Port: number, NoSync: true,
			Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		shards = append(shards, e.DSN())
	}
	c := clickhouse.DefaultConfig()
	c.Shards = strings.Join(shards, ";")
	return c
}

// Whatever server of a cluster an analyst asks, and in whatever table, rows of other organizations are not there:
// neither on that server nor on those that it asks in turn.
func TestAnAnalystOfAClusterSeesOneOrganization(t *testing.T) {
	ana := schema.Analyst{Name: "ana", Organization: "acme", OrganizationID: clickhouse.UUID{1},
		Database: engine.Database, PasswordSCRAM: schema.PasswordSCRAM("of-acme"), Since: time.Now(), Sharded: true}
	users, err := ana.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	c := clusterOf(t, string(users))
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	conn := store.OpenWarehouse(t, c)
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for n := range conn.Shards() {
		for _, organization := range []byte{1, 2} {
			row := clickhouse.AnswerRow{
				OrganizationID: clickhouse.UUID{organization}, BrandID: clickhouse.UUID{organization, 1},
				ID: clickhouse.UUID{organization, byte(n)}, Sign: 1, Day: day, AnsweredAt: day, Platform: "openai",
			}
			if err := clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, n), fmt.Sprint(organization),
				[]clickhouse.AnswerRow{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for server := range strings.SplitSeq(c.Shards, ";") {
		address, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		address.User = url.UserPassword(ana.Login(), "of-acme")
		config := clickhouse.DefaultConfig()
		config.DSN = address.String()
		hers := store.OpenWarehouse(t, config)
		ask := func(question string) (rows uint64, organizations []string, err error) {
			err = hers.QueryRow(t.Context(), question).Scan(&rows, &organizations)
			return rows, organizations, err
		}
		for _, table := range schema.OrganizationTables() {
			local := table
			if !strings.HasPrefix(table, "dimension_") {
				local += "_local"
			}
			for _, name := range []string{table, local} {
				_, organizations, err := ask("SELECT count(), groupUniqArray(toString(organization_id)) FROM " + name)
				if err != nil || len(organizations) > 1 || len(organizations) == 1 &&
					organizations[0] != ana.OrganizationID.String() {
					t.Errorf("%s shows rows of %v, %v", name, organizations, err)
				}
			}
		}
		rows, _, err := ask("SELECT count(), [''] FROM answers")
		if err != nil || rows != 2 {
			t.Errorf("%d answers, %v; want hers of both shards", rows, err)
		}
		rows, _, err = ask("SELECT count(), [''] FROM answers WHERE brand_id = '02010000-0000-0000-0000-000000000000'")
		if err != nil || rows != 0 {
			t.Errorf("%d answers of another organization, %v", rows, err)
		}
		for _, around := range []string{"cluster('answerscope', answerscope.answers_local)",
			"clusterAllReplicas('answerscope', answerscope.answers)",
			"remote('" + address.Host + "', answerscope.answers_local)"} {
			if rows, _, err := ask("SELECT count(), [''] FROM " + around); err == nil {
				t.Errorf("%s returned %d rows", around, rows)
			}
		}
		march := "organization_id = '" + ana.OrganizationID.String() +
			"', brand_id = '01010000-0000-0000-0000-000000000000', date_from = '2026-03-01', date_to = " +
			"'2026-03-31', platforms = [], models = [], regions = [], topics = [], branded = []"
		if rows, _, err := ask("SELECT toUInt64(sum(answers)), [''] FROM entity_visibility(" + march +
			", prompts = [], group_by = '')"); err != nil || rows != 2 {
			t.Errorf("%d answers in a view, %v; want 2", rows, err)
		}
		if _, _, err := ask("SELECT count(), [''] FROM newest_cards(" + march +
			", roles = [], before = '', after_answer = '', after_position = 0, after_card = '', limit = " +
			"10)"); err != nil {
			t.Error(err)
		}
	}
}
