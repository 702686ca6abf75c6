package postgres_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

func saltsOf(t *testing.T, db *postgres.DB, days ...time.Time) map[time.Time][]byte {
	t.Helper()
	rows, err := db.Salts(t.Context(), days...)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[time.Time][]byte{}
	for _, r := range rows {
		if len(r.Key) != 16 || keys[r.Day] != nil {
			t.Errorf("%+v", r)
		}
		keys[r.Day] = r.Key
	}
	if len(keys) != len(days) {
		t.Fatalf("%d salts of %v", len(keys), days)
	}
	return keys
}

// All who ask get the same salts, also those who ask first at one time.
func TestADayHasOneSalt(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	tomorrow := today.AddDate(0, 0, 1)
	var all [8]map[time.Time][]byte
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			rows, err := db.Salts(t.Context(), today, tomorrow)
			if err != nil || len(rows) != 2 {
				t.Errorf("%v, %v", rows, err)
				return
			}
			all[i] = map[time.Time][]byte{rows[0].Day: rows[0].Key, rows[1].Day: rows[1].Key}
		})
	}
	wg.Wait()
	for _, one := range all {
		if !bytes.Equal(one[today], all[0][today]) || !bytes.Equal(one[tomorrow], all[0][tomorrow]) ||
			bytes.Equal(one[today], one[tomorrow]) {
			t.Fatalf("%v beside %v", one, all[0])
		}
	}
	other, _ := migrated(t)
	if bytes.Equal(saltsOf(t, other, today)[today], all[0][today]) {
		t.Error("two databases have one salt")
	}
}

// A salt goes an hour after its day, and no clock keeps one for longer than 47 hours.
func TestSaltsAreDeletedInTime(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	const fill = `
		INSERT INTO private.visitor_salts (day, salt, made_at)
		SELECT (now() AT TIME ZONE 'UTC' - day_age)::date, '0123456789abcdef', now() - age
		FROM (VALUES ('25 hours'::interval, '1 hour'::interval), ('49 hours', '1 hour'), ('9 days', '9 days'),
			('-300 days', '47 hours'), ('-301 days', '46 hours')) AS rows (day_age, age)
		ON CONFLICT DO NOTHING`
	if _, err := root.Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	today := one[time.Time](t, root, "SELECT (now() AT TIME ZONE 'UTC')::date")
	now := saltsOf(t, db, today)[today]
	if err := db.DropSalts(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := list[time.Time](t, root, "SELECT day FROM private.visitor_salts WHERE day + interval '25 hours' <= "+
		"now() AT TIME ZONE 'UTC' OR made_at <= now() - interval '47 hours'")
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if remaining := one[int](t, root,
		"SELECT count(*)::int FROM private.visitor_salts WHERE day > now() + interval '300 days'"); remaining != 1 {
		t.Errorf("%d salts that are younger, want 1", remaining)
	}
	if !bytes.Equal(saltsOf(t, db, today)[today], now) {
		t.Error("today's salt has changed")
	}
}

func TestASaltGoesAnHourAfterItsDay(t *testing.T) {
	t.Parallel()
	_, dsn := migrated(t)
	root := connected(t, dsn)
	statement, err := os.ReadFile("query/drop_salts.sql")
	if err != nil {
		t.Fatal(err)
	}
	one[int](t, root, "INSERT INTO private.visitor_salts (day, salt, made_at) "+
		"VALUES ('2026-03-01', '0123456789abcdef', '2026-03-01T00:00Z') RETURNING 1")
	for _, c := range []struct {
		now  string
		want int
	}{{"2026-03-02T00:59:59Z", 1}, {"2026-03-02T01:00:00Z", 0}} {
		text := strings.ReplaceAll(string(statement), "now()", "timestamptz '"+c.now+"'")
		if _, err := root.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if salts := one[int](t, root, "SELECT count(*)::int FROM private.visitor_salts"); salts != c.want {
			t.Errorf("%d salts of March 1 at %s, want %d", salts, c.now, c.want)
		}
	}
}

func TestNobodyReadsSaltsButTheService(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	saltsOf(t, w.db, time.Now().UTC().Truncate(24*time.Hour))
	for _, text := range []string{"SELECT FROM private.visitor_salts", "DELETE FROM private.visitor_salts"} {
		if got := w.user(t, w.own.users["owner"], text); got.code != "42501" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if _, err := w.db.Exec(t.Context(), "UPDATE private.visitor_salts SET made_at = now()"); err == nil {
		t.Error("the service can make a salt young")
	}
}
