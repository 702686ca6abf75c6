package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// stacks has 30 rows of 100 characters, 15 of 5,000 below the first of them, and one of 70,000 below the second.
const stacks = `
	CREATE TABLE api.stacks (id int PRIMARY KEY, text text NOT NULL);
	CREATE TABLE api.papers (id int PRIMARY KEY, stack int REFERENCES api.stacks, text text NOT NULL);
	INSERT INTO api.stacks SELECT i, repeat('x', 100) FROM generate_series(1, 30) i;
	INSERT INTO api.papers SELECT i, 1, repeat('y', 5000) FROM generate_series(1, 15) i;
	INSERT INTO api.papers VALUES (20, 2, repeat('z', 70000)), (21, 3, 'short');
	GRANT ALL ON api.stacks, api.papers TO rest_anon;
	ANALYZE api.stacks`

// bounded serves stacks; a body has at most 20 rows and 64 KB.
func bounded(t *testing.T) *site {
	t.Helper()
	owner := testkit.CopyPostgres(t, template(t))
	execute(t, owner, stacks)
	return newSiteOn(t, owner, asLogin(t, owner), func(cfg *Config) {
		rows := int64(20)
		cfg.MaxRows, cfg.MaxBytes = &rows, 64<<10
	})
}

// A body of more rows or bytes than a server sends is cut at whole rows, and says so. Where a list that is embedded is
// too large, and where rows are written, it is refused.
func TestABodyIsBounded(t *testing.T) {
	t.Parallel()
	s := bounded(t)
	for _, c := range []struct {
		request, rest string
		code          int
		contentRange  string
		rows          int // -1: no array
	}{
		{"GET /stacks?order=id", "", 206, "0-19/*", 20},
		{"GET /stacks?order=id", "Prefer: count=exact\n", 206, "0-19/30", 20},
		{"GET /stacks?order=id", "Prefer: count=estimated\n", 206, "0-19/30", 20},
		{"GET /stacks?order=id&limit=25", "", 206, "0-19/*", 20},
		{"GET /stacks?order=id&limit=20", "", 200, "0-19/*", 20},
		{"GET /stacks?order=id&limit=5", "", 200, "0-4/*", 5},
		{"GET /stacks?order=id&offset=10", "", 200, "10-29/*", 20},
		{"GET /stacks?order=id&offset=25", "", 200, "25-29/*", 5},
		{"HEAD /stacks", "", 206, "0-19/*", -1},
		{"HEAD /stacks?limit=7", "", 200, "0-6/*", -1},
		{"GET /stacks?order=id", "Accept: text/csv\n", 206, "0-19/*", -1},
		{"GET /rpc/numbers?n=40", "", 206, "0-19/*", 20},
		{"GET /papers?order=id", "", 206, "0-12/*", 13},
		{"GET /papers?order=id", "Prefer: count=exact\n", 206, "0-12/17", 13},
		{"GET /papers?order=id", "Accept: text/csv\n", 206, "0-12/*", -1},
		{"GET /papers?id=eq.20", "", 200, "0-0/*", 1},
		{"GET /papers?id=gte.20&order=id", "", 206, "0-0/*", 1},
		{"GET /stacks?select=id,papers(*)&id=eq.1", "", 400, "", -1},
		{"GET /stacks?select=id,...papers(text)&id=eq.1", "", 400, "", -1},
		{"GET /stacks?select=id,papers(*)&papers.limit=9&id=eq.1", "", 200, "0-0/*", 1},
		{"GET /stacks?select=id,papers(count)", "", 206, "0-19/*", 20},
		{"GET /stacks?select=id,papers(*)&order=id.desc", "", 206, "0-19/*", 20},
		{"GET /stacks?select=id,papers(*)&papers.limit=9&order=id", "", 400, "", -1},
		{"GET /stacks?select=id,text,papers(id)&order=text", "", 206, "0-19/*", 20},
		{"GET /stacks?select=id,papers(*)&order=id.desc&id=lte.4", "", 400, "", -1},
		{"GET /stacks?select=papers(*,stacks(papers(*)))&id=eq.1", "", 400, "", -1},
		{"PATCH /papers?id=lte.15", "Prefer: return=representation\n\n{\"text\":\"" + strings.Repeat("w", 6000) + "\"}",
			400, "", -1},
		{"PATCH /stacks?id=lte.30", "Prefer: return=representation\n\n{\"text\":\"w\"}", 200, "0-29/*", 30},
		{"PATCH /papers?id=lte.15", "\n{\"text\":\"short\"}", 204, "0-14/*", -1},
	} {
		r := s.send(t, c.request, c.rest)
		if r.code != c.code || r.header.Get("Content-Range") != c.contentRange || len(r.body) > 72<<10 {
			t.Errorf("%s %q: %s, Content-Range %q, %d bytes %.200s", c.request, c.rest, r.status,
				r.header.Get("Content-Range"), len(r.body), r.body)
		}
		if c.code == 400 && !strings.HasPrefix(r.body, `{"code":"54000","details":null,"hint":"Se`) {
			t.Errorf("%s: %s", c.request, r.body)
		}
		var rows []any
		if err := json.Unmarshal([]byte(r.body), &rows); c.rows >= 0 && (err != nil || len(rows) != c.rows) {
			t.Errorf("%s: %d rows, %v", c.request, len(rows), err)
		}
		if lines := strings.Split(r.body, "\n"); strings.Contains(c.rest, "csv") &&
			(!strings.HasPrefix(lines[0], "id,") ||
				len(lines)-1 != map[string]int{"0-19/*": 20, "0-12/*": 13}[c.contentRange]) {
			t.Errorf("%s as CSV: %d lines", c.request, len(lines))
		}
	}
	if r := s.send(t, "GET /papers?select=id&text=like.w*", ""); r.body != "[]" {
		t.Errorf("a refused write has changed %s", r.body)
	}
}

// An organization that asks for more than its share waits for itself, and another one does not wait for it. A body that
// its client does not read keeps its slot.
func TestAnOrganizationHasItsShareOfConnections(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(cfg *Config) { cfg.AcquireTimeout = time.Second })
	var asking sync.WaitGroup
	defer asking.Wait()
	for range 4 {
		asking.Go(func() { s.send(t, "POST /rpc/sleep", "Organization: busy\n\n{\"seconds\":5}") })
	}
	wait.For(t, "its slots", func() bool { return s.api.pool.Stat().AcquiredConns() == 4 })
	if r := s.send(t, "GET /authors?select=id&id=eq.1", "Organization: busy\n"); r.code != 429 ||
		r.header.Get("Retry-After") != "1" || !strings.HasPrefix(r.body, `{"code":"PT429",`) {
		t.Errorf("%s %v %s", r.status, r.header, r.body)
	}
	if r := s.send(t, "GET /authors?select=id&id=eq.1", "Organization: calm\n"); r.code != 200 {
		t.Errorf("another organization: %s %s", r.status, r.body)
	}
}

// While PostgreSQL's packets are lost every request is answered before long, and a statement that takes longer
// than that is not taken for a lost connection.
func TestADatabaseWhosePacketsAreLost(t *testing.T) {
	t.Parallel()
	owner := testkit.CopyPostgres(t, template(t))
	proxy := testkit.NewProxy(t, asLogin(t, owner))
	s := newSiteOn(t, owner, proxy.DSN, nil)
	if r := s.send(t, "POST /rpc/sleep", "\n{\"seconds\":4.5}"); r.code != 204 {
		t.Errorf("a slow statement: %s %s", r.status, r.body)
	}
	dropped := false
	var asking sync.WaitGroup
	ask := func(n int) {
		for i := range n {
			asking.Go(func() {
				request, body := "GET /authors?select=id&id=eq.1", ""
				switch i % 3 {
				case 1:
					request, body = "POST /items", "\n{\"name\":\"lost\"}"
				case 2:
					request = "GET /authors?select=born::text&id=eq.1"
				}
				started := time.Now()
				r := s.send(t, request, body)
				if took := time.Since(started); (r.code == 503) != dropped ||
					r.code == 503 && r.header.Get("Retry-After") != "1" || took > wait.Hang {
					t.Errorf("%s: %s after %s: %s", request, r.status, took, r.body)
				}
			})
		}
		asking.Wait()
	}
	ask(6)
	proxy.Drop()
	dropped = true
	for range 3 {
		ask(24)
	}
}

// Three hundred changes of the schema are a few reloads, and the last change is seen.
func TestAStormOfSchemaChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	execute(t, s.owner, `
		CREATE FUNCTION private.announce() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY pgrst; END $$;
		CREATE EVENT TRIGGER announce ON ddl_command_end EXECUTE FUNCTION private.announce()`)
	started := time.Now()
	for i := range 300 {
		execute(t, s.owner,
			fmt.Sprintf("CREATE TABLE api.storm_%d (id int); GRANT SELECT ON api.storm_%d TO rest_anon", i, i))
	}
	wait.For(t, "the last table", func() bool { return s.send(t, "GET /storm_299", "").code == 200 })
	reloads, most := strings.Count(s.log.String(), "schema read"), 3+int(time.Since(started)/reloadPause)
	if reloads > most {
		t.Errorf("%d reloads in %s, want at most %d", reloads, time.Since(started), most)
	}
}
