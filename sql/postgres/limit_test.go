package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Of some that are added at once below a limit as many are added as there is room for.
func TestLimitsHoldAtOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.webhook_endpoints", "DELETE FROM public.share_links",
		"DELETE FROM public.subscriptions", "DELETE FROM public.invitations")
	own, brand, admin := w.own.organization.ID, w.own.brand.ID, w.own.users["admin"].ID
	name := func(n int) string { return fmt.Sprintf("n%d@limit.example", n) }
	link := func() postgres.NewLink {
		return postgres.NewLink{
			Hash: [32]byte(append(uuid.Must(uuid.NewV4()).Bytes(), uuid.Must(uuid.NewV4()).Bytes()...)),
			Life: time.Hour,
		}
	}
	for _, c := range []struct {
		table string
		limit int
		add   func(n int) error
	}{
		{"public.webhook_endpoints", 10, func(n int) error {
			return w.db.AddWebhookEndpoint(t.Context(), admin,
				postgres.WebhookEndpoint{
					ID: uuid.Must(uuid.NewV4()), OrganizationID: own, Kind: "webhook",
					URL: "https://" + name(n)[:2] + ".example/",
				}, "sealed")
		}},
		{"public.share_links", 50, func(int) error {
			_, err := w.db.AddShareLink(t.Context(), postgres.NewShareLink{
				OrganizationID: own, BrandID: brand, Screens: []string{"overview"},
				Filters: map[string]string{}, Hash: link().Hash,
			})
			return err
		}},
		{"public.subscriptions", 20, func(n int) error {
			_, err := w.db.AddAddress(t.Context(),
				postgres.NewAddress{OrganizationID: own, Address: name(n)}, admin, link())
			return err
		}},
		{"public.invitations", 50, func(n int) error {
			_, err := w.db.AddInvitation(t.Context(),
				postgres.NewInvitation{OrganizationID: own, Email: name(n), Role: "viewer", By: admin}, link())
			return err
		}},
	} {
		for n := range c.limit - 2 {
			if err := c.add(n); err != nil {
				t.Fatalf("%s %d: %v", c.table, n, err)
			}
			w.run(t, "UPDATE private.one_time_links SET created_at = now() - INTERVAL '2 hours'")
		}
		ended := make(chan error)
		for n := range 6 {
			go func() { ended <- c.add(c.limit + n) }()
		}
		added := 0
		for range 6 {
			err := <-ended
			limit, full := errors.AsType[postgres.ErrLimit](err)
			if err == nil {
				added++
			} else if !full || limit.IsShort || !strings.Contains(limit.Text, fmt.Sprint(c.limit)) {
				t.Errorf("%s: %v", c.table, err)
			}
		}
		if n := one[int](t, w.root, "SELECT count(*) FROM "+c.table+" WHERE organization_id = $1", own); added != 2 ||
			n != c.limit {
			t.Errorf("%s: %d of six are added, there are %d", c.table, added, n)
		}
	}
}
