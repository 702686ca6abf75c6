package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/uuid/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	demoMail     = "demo-weekly.html" // a file of the data directory
	demoHook     = "/webhook"         // on the page's address
	demoWebhooks = 2                  // that are awaited
)

// A demoReceiver verifies webhooks and prints which arrived.
type demoReceiver struct {
	verifier *standardwebhooks.Webhook
	say      func(format string, args ...any)
}

func (r *demoReceiver) receive(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = r.verifier.Verify(body, request.Header)
	}
	var event struct{ Type string }
	if err = errors.Join(err, json.Unmarshal(body, &event)); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	r.say("webhook %s, %s: verified by the demo's receiver", event.Type,
		request.Header.Get(standardwebhooks.HeaderWebhookSignature))
}

// notify emits an alert and the report of last week, whose mail it writes to the data directory. Where secrets can be
// sealed, both are posted to the receiver beside the page. Its endpoint is made anew: at a later start tests stand in
// for what an earlier endpoint got.
func (d *demo) notify(ctx context.Context, page *demoPage) error {
	ring, err := d.Settings.SecretRing()
	if err != nil || !ring.IsSet() {
		return errors.Join(err, d.report(ctx))
	}
	webhooks, err := queryapi.NewWebhooks(queryapi.Deps{DB: d.DB, Settings: d.Settings})
	if err != nil {
		return err
	}
	endpoint := postgres.WebhookEndpoint{
		OrganizationID: d.organization.ID, Kind: postgres.KindWebhook, Description: "The demo's receiver",
		URL: "http://" + page.listener.Addr().String() + demoHook, IsActive: true,
	}
	if err := d.addReceiver(ctx, webhooks, page, &endpoint); err != nil {
		return err
	}
	if err := d.report(ctx); err != nil {
		return err
	}
	sent, err := d.DB.WebhookDeliveries(ctx, endpoint.ID, demoWebhooks)
	for range demoWebhooks - len(sent) {
		test, failed := webhooks.Test(ctx, endpoint)
		sent, err = append(sent, postgres.WebhookDelivery{ID: test}), errors.Join(err, failed)
	}
	for _, delivery := range sent {
		if err != nil {
			return err
		}
		delivery, err = awaitDelivery(ctx, d.DB, endpoint.ID, delivery.ID, time.Minute, true)
		if delivery.Error != nil {
			err = fmt.Errorf("webhook %s: %s", delivery.Event, *delivery.Error)
		}
	}
	return err
}

// addReceiver adds the endpoint of the page's receiver, and removes others of that description.
func (d *demo) addReceiver(
	ctx context.Context, webhooks *webhook.Manager, page *demoPage, endpoint *postgres.WebhookEndpoint,
) error {
	list, err := d.DB.WebhookEndpoints(ctx, d.organization.ID)
	for _, e := range list {
		if e.Description == endpoint.Description {
			err = errors.Join(err, d.DB.RemoveWebhookEndpoint(ctx, e.ID))
		}
	}
	if err != nil {
		return err
	}
	added, err := webhooks.Add(ctx, uuid.Nil, *endpoint)
	if err != nil {
		return err
	}
	endpoint.ID = added.ID
	verifier, err := standardwebhooks.NewWebhook(added.Secret)
	page.receiver.Store(&demoReceiver{verifier, d.p.say})
	return err
}

func (d *demo) report(ctx context.Context) error {
	monday, err := notify.ParseWeek("", d.until)
	if err != nil {
		return err
	}
	reporter := notify.NewReporter(d.DB, d.Warehouse, time.Now, d.Log)
	report, message, err := weekly(ctx, reporter, d.stored, monday, d.Settings.PublicURL)
	if err != nil {
		return err
	}
	path := filepath.Join(d.Settings.DataDir, demoMail)
	if err := os.WriteFile(path, []byte(message.HTML), 0o600); err != nil {
		return fmt.Errorf("store the weekly mail: %w", err)
	}
	noon := func() time.Time { return d.until.Truncate(24 * time.Hour).Add(12 * time.Hour) } // yesterday is complete
	if err := notify.NewReporter(d.DB, d.Warehouse, noon, d.Log).Hourly(ctx); err != nil {
		return err
	}
	return reporter.Emit(ctx, d.stored, report)
}
