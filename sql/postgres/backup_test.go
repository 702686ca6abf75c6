package postgres_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

// file is one in memory.
type file struct{ bytes.Buffer }

func (*file) Close() error { return nil }

// A copy has every row, and sends nothing that was pending: it would mail customers a second time.
func TestACopySendsNothingThatWasPending(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "UPDATE public.webhook_deliveries SET status = 'delivered'", "DELETE FROM private.mails",
		"UPDATE public.webhook_deliveries SET status = 'pending', leased_until = now() + INTERVAL '1 min', "+
			"holder = gen_random_uuid() WHERE organization_id = '"+w.own.organization.ID.String()+"'",
		"INSERT INTO private.mails (organization_id, template, recipient, sealed) SELECT id, 'reset', "+
			"'x@y.example', 'link' FROM public.organizations")
	pending := one[int64](t, w.root, "SELECT count(*) FROM public.webhook_deliveries WHERE status = 'pending'") + 2
	files := map[string]*file{}
	err := postgres.Dump(t.Context(), w.db.Config().ConnString(), func(table string) (io.WriteCloser, error) {
		files[table] = &file{}
		return files[table], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, dsn := migrated(t)
	cancelled, err := postgres.Load(t.Context(), dsn, func(table string) (io.ReadCloser, error) {
		return files[table], nil
	})
	if err != nil || cancelled != pending || pending < 3 {
		t.Errorf("%d deliveries and mails are cancelled, %v; want %d", cancelled, err, pending)
	}
	copied := connected(t, dsn)
	const left = `SELECT (SELECT count(*) FROM public.webhook_deliveries WHERE status = 'pending' OR holder IS NOT
		NULL OR leased_until IS NOT NULL)
		+ (SELECT count(*) FROM private.mails WHERE status <> 'cancelled' OR sealed IS NOT NULL)`
	if n := one[int64](t, copied, left); n != 0 {
		t.Errorf("%d would be sent", n)
	}
	if got, want := one[int64](t, copied, "SELECT count(*) FROM public.events"),
		one[int64](t, w.root, "SELECT count(*) FROM public.events"); got != want {
		t.Errorf("the copy has %d events of %d", got, want)
	}
}
