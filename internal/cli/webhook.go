package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/postgres"
)

type webhookCmd struct {
	Add        webhookAdd        `cmd:"" help:"Add an endpoint; prints its secret, alone, once."`
	List       webhookList       `cmd:"" help:"List the endpoints of an organization."`
	Test       webhookTest       `cmd:"" help:"Send an endpoint the event webhook.test, and wait for its response."`
	Rotate     webhookRotate     `cmd:"" help:"Give an endpoint another secret; prints it, alone, once."`
	Redeliver  webhookRedeliver  `cmd:"" help:"Send what did not arrive once more."`
	Deliveries webhookDeliveries `cmd:"" help:"List the newest deliveries to an endpoint."`
	Remove     webhookRemove     `cmd:"" help:"Remove an endpoint with its deliveries."`
}

type webhookAdd struct {
	URL string `arg:"" help:"Where events are posted: https, port 443 or 8443."`
	orgFlags
	Brand       string   `placeholder:"SLUG" help:"Only events of this brand."`
	Events      []string `placeholder:"TYPE" help:"Only these types, such as visibility.moved; by default all."`
	Slack       bool     `help:"{webhook_slack}"`
	Description string   `placeholder:"TEXT" help:"What it is for."`
	JSON        bool     `name:"json" help:"One JSON document."`
}

func (c *webhookAdd) Run(ctx context.Context, p *process, db *postgres.DB, webhooks *webhook.Manager) error {
	organization, brand, err := findBrand(ctx, db, c.Org, c.Brand)
	if err != nil {
		return err
	}
	e := postgres.WebhookEndpoint{
		OrganizationID: organization.ID, BrandID: uuid.NullUUID{UUID: brand.ID, Valid: c.Brand != ""},
		Kind: postgres.KindWebhook, URL: c.URL, Events: c.Events, Description: c.Description,
	}
	if c.Slack {
		e.Kind = postgres.KindSlack
	}
	added, err := webhooks.Add(ctx, uuid.Nil, e)
	if err != nil {
		return asUsage(err)
	}
	p.say("added endpoint %s; answerscope webhook test %[1]s tries it", added.ID)
	if c.Slack && !c.JSON {
		return nil
	}
	return p.printResult(c.JSON, added, added.Secret)
}

type webhookList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *webhookList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	return asList(db.WebhookEndpoints(ctx, organization.ID)).print(p, c.JSON, func(e postgres.WebhookEndpoint) string {
		state := "active"
		switch {
		case e.DisabledAt != nil:
			state = *e.DisabledReason + " since " + e.DisabledAt.Format(time.DateTime)
		case !e.IsActive:
			state = "switched off"
		case e.FailingSince != nil:
			state = "failing since " + e.FailingSince.Format(time.DateTime)
		}
		brand := "all"
		if e.Brand != nil {
			brand = *e.Brand
		}
		return strings.Join([]string{e.ID.String(), e.Kind, e.URL, brand, cmp.Or(strings.Join(e.Events, ","), "all"),
			state}, "\t")
	}, "ID", "KIND", "URL", "BRAND", "EVENTS", "STATE")
}

const webhookListCommand = "answerscope webhook list"

// endpointArg names an endpoint, which Run may take, after *postgres.DB.
type endpointArg struct {
	ID string `arg:"" help:"Of the endpoint, as webhook list prints it."`
}

// ProvideEndpoint is called by kong.
func (a endpointArg) ProvideEndpoint(ctx context.Context, db *postgres.DB) (postgres.WebhookEndpoint, error) {
	id, err := uuid.FromString(a.ID)
	if err != nil {
		err = usageError{fmt.Errorf("endpoint %q: want the id that webhook list prints", a.ID)}
		return postgres.WebhookEndpoint{}, err
	}
	e, err := db.WebhookEndpoint(ctx, uuid.NullUUID{}, id)
	return e, suggestList(webhookListCommand, err)
}

type webhookTest struct {
	endpointArg
	JSON bool `name:"json" help:"One JSON document."`
}

const testWait = 20 * time.Second // for a response, of which the endpoint has 15

func (c *webhookTest) Run(
	ctx context.Context, p *process, db *postgres.DB, webhooks *webhook.Manager, e postgres.WebhookEndpoint,
) error {
	id, err := webhooks.Test(ctx, e)
	if err != nil {
		return err
	}
	d, err := awaitDelivery(ctx, db, e.ID, id, testWait, false)
	if err != nil {
		return err
	}
	if d.Error == nil {
		text := fmt.Sprintf("delivered: status %d after %d ms", *d.ResponseStatus, *d.DurationMS)
		return p.printResult(c.JSON, d, text)
	}
	if err := p.printResult(c.JSON, d, "not delivered: "+*d.Error); err != nil {
		return err
	}
	return errors.New("the endpoint did not take the event; docs/webhooks.md explains the error")
}

// awaitDelivery waits until an attempt of a delivery has ended, or with retries until one succeeds; the delivery has an
// Error if the last one failed.
func awaitDelivery(
	ctx context.Context, db *postgres.DB, endpoint, id uuid.UUID, limit time.Duration, retries bool,
) (postgres.WebhookDelivery, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		d, err := db.WebhookDelivery(ctx, endpoint, id)
		if err != nil || d.Status == "delivered" || d.Error != nil && !retries {
			return d, err
		}
		if lifecycle.Pause(limited, 200*time.Millisecond) != nil {
			if d.Error != nil {
				return d, nil
			}
			return d, fmt.Errorf("nothing was sent within %v: the endpoint is busy with earlier deliveries, or no "+
				"pipeline runs; see answerscope status", limit)
		}
	}
}

type webhookRotate struct {
	endpointArg
	OverlapHours int  `default:"24" placeholder:"N" help:"{webhook_overlap}"`
	JSON         bool `name:"json" help:"One JSON document."`
}

func (c *webhookRotate) Run(
	ctx context.Context, p *process, db *postgres.DB, webhooks *webhook.Manager, e postgres.WebhookEndpoint,
) error {
	rotated, err := webhooks.Rotate(ctx, uuid.Nil, e, c.OverlapHours)
	if err != nil {
		return asUsage(err)
	}
	return p.printResult(c.JSON, rotated, rotated.Secret)
}

type webhookRedeliver struct {
	endpointArg
	Delivery string `placeholder:"ID" help:"This delivery alone."`
	Since    string `placeholder:"TIME" help:"{webhook_since}"`
	Until    string `placeholder:"TIME" help:"Only events until then."`
	JSON     bool   `name:"json" help:"One JSON document."`

	selection postgres.Redelivery
}

// Validate checks the flags.
func (c *webhookRedeliver) Validate() (err error) {
	if c.Delivery != "" {
		if c.selection.Delivery.UUID, err = uuid.FromString(c.Delivery); err != nil {
			return fmt.Errorf("--delivery %q: want the id that webhook deliveries prints", c.Delivery)
		}
		c.selection.Delivery.Valid = true
	}
	if c.selection.Since, err = moment("--since", c.Since); err != nil {
		return err
	}
	c.selection.Until, err = moment("--until", c.Until)
	return err
}

// moment reads a flag that is a UTC day or a time; nil where it is absent.
func moment(flag, text string) (*time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return &at, nil
	}
	at, err := day(flag, text)
	if err != nil {
		return nil, fmt.Errorf("%w or a time such as 2026-03-01T08:00:00Z", err)
	}
	return at, nil
}

func (c *webhookRedeliver) Run(
	ctx context.Context, p *process, db *postgres.DB, webhooks *webhook.Manager, e postgres.WebhookEndpoint,
) error {
	n, err := webhooks.Redeliver(ctx, e, c.selection)
	if err != nil {
		return asUsage(err)
	}
	return p.printResult(c.JSON, map[string]int{"deliveries": n}, fmt.Sprintf("%d deliveries are sent again", n))
}

type webhookDeliveries struct {
	endpointArg
	Limit int  `default:"50" placeholder:"N" help:"At most so many lines (default 50)."`
	JSON  bool `name:"json" help:"One JSON object a line."`
}

func (c *webhookDeliveries) Run(ctx context.Context, p *process, db *postgres.DB, e postgres.WebhookEndpoint) error {
	return asList(db.WebhookDeliveries(ctx, e.ID, c.Limit)).print(p, c.JSON, func(d postgres.WebhookDelivery) string {
		response := ""
		if d.ResponseStatus != nil {
			response = fmt.Sprintf("%d in %d ms", *d.ResponseStatus, *d.DurationMS)
		}
		if d.Error != nil {
			response = *d.Error
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s", d.ID, d.CreatedAt.Format(time.DateTime), d.Event, d.Status,
			d.Attempts, response)
	}, "ID", "AT", "EVENT", "STATUS", "ATTEMPTS", "RESPONSE")
}

type webhookRemove struct{ endpointArg }

func (c *webhookRemove) Run(ctx context.Context, db *postgres.DB, e postgres.WebhookEndpoint) error {
	return suggestList(webhookListCommand, db.RemoveWebhookEndpoint(ctx, e.ID))
}
