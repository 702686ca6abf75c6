package mail

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// An event and a link leave PostgreSQL as mails, once each, although the relay dies after its answer; a mail that it
// puts off waits. The key that encrypted them is gone by then.
func TestMailsLeaveTheQueue(t *testing.T) {
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	organization, err := db.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO public.subscriptions (id, organization_id, address, confirmed_at)
		VALUES ($1, $2, 'killed@acme.example', now())`, subscription, organization.ID)
	exec("SELECT private.emit($1, NULL, 'report.weekly', $2)", organization.ID, letters(t)[feed.ReportWeekly].Data)
	ringOf := func(text string) secret.Ring {
		t.Helper()
		ring, err := secret.ParseRing(text)
		if err != nil {
			t.Fatal(err)
		}
		return ring
	}
	before := "k:" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	after := "n:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	for _, recipient := range []string{"Bob@acme.example", "nobody@acme.example", "busy@acme.example"} {
		link := feed.Link{Token: "3ZQ7KX2M4V6T5J8RWNBYHDLCPA", Expires: time.Now().Add(time.Hour)}
		exec("INSERT INTO private.mails (id, organization_id, template, recipient, sealed) VALUES ($1, $2, "+
			"'reset', $3, $4)",
			uuid.Must(uuid.NewV4()), organization.ID, recipient, link.Seal(ringOf(before), recipient))
	}
	if n, err := db.Reseal(t.Context(), ringOf(after+","+before).Reseal); n != 3 || err != nil {
		t.Fatalf("%d mails encrypted anew, %v", n, err)
	}
	r := newRelay(t, nil, false)
	cfg := notify.DefaultConfig()
	cfg.Mail, cfg.PollInterval = r.sender(t, local, ringOf(after)).Send, 50*time.Millisecond
	var log logbuffer.Buffer
	worker, err := notify.New(cfg, db, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, worker.Run))
	const want = "Bob delivered 250 without link, busy pending 451 with link, killed delivered 250 without link, " +
		"nobody failed 550 without link"
	var got string
	wait.For(t, "the mails", func() bool {
		err := db.QueryRow(t.Context(),
			`SELECT string_agg(split_part(recipient::text, '@', 1) || ' ' || status || ' ' ||
				coalesce(response_status, 0)
			|| CASE WHEN sealed IS NULL THEN ' without link' ELSE ' with link' END, ', ' ORDER BY recipient)
				FROM private.mails`).Scan(&got)
		return err == nil && strings.Count(got, " 0 ") == 0
	})
	if mails := r.received(); got != want || len(mails) != 2 {
		t.Errorf("%d mails arrived: %s\n%s", len(mails), got, log.String())
	}
}
