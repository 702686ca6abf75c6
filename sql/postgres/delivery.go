package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Delivery is an event on its way to an endpoint, leased to one process.
type Delivery struct {
	ID             uuid.UUID       `db:"id"`
	EndpointID     uuid.UUID       `db:"endpoint_id"`
	Attempts       int             `db:"attempts"` // with this one
	Kind           string          `db:"kind"`     // webhook or slack
	URL            string          `db:"url"`      // of Slack only its beginning and end
	Secrets        []string        `db:"secrets"`  // sealed, the newest first; of Slack the address
	EventID        uuid.UUID       `db:"event_id"`
	OrganizationID uuid.UUID       `db:"organization_id"`
	Type           string          `db:"type"`
	At             time.Time       `db:"at"`
	Data           json.RawMessage `db:"data"`
}

// Mail is a mail on its way, leased to one process.
type Mail struct {
	ID             uuid.UUID       `db:"id"`
	SubscriptionID uuid.NullUUID   `db:"subscription_id"`
	Template       string          `db:"template"` // the type of its event, or the kind of its link
	Recipient      string          `db:"recipient"`
	Sealed         *string         `db:"sealed"`   // nil: nothing that may not be read
	Attempts       int             `db:"attempts"` // with this one
	Data           json.RawMessage `db:"data"`     // of its event
}

// Outcome is how an attempt to send ended.
type Outcome struct {
	Code       int           // of the response; 0: there was none
	Error      string        // for people, without secrets; "": it succeeded
	Excerpt    string        // the beginning of the response
	Final      bool          // after a failure: another attempt would be in vain
	RetryAfter time.Duration // that the receiver asks for
}

// Attempt is an Outcome with what follows.
type Attempt struct {
	Outcome
	Status string        // delivered, pending, failed
	Wait   time.Duration // until the next attempt of what is pending
	Took   time.Duration
}

// DeliveryBacklog counts the pending rows of a kind.
type DeliveryBacklog struct {
	Kind    string  `db:"kind"` // webhook, slack or mail
	Pending int64   `db:"pending"`
	Seconds float64 `db:"seconds"` // since the most overdue was due
}

// DeliveryQueue leases deliveries and mails that are due to this process, one of many. It is safe for concurrent use.
type DeliveryQueue struct{ leases leaseholder }

// NewDeliveryQueue returns a queue that has leased nothing yet.
func (db *DB) NewDeliveryQueue(lease time.Duration) (*DeliveryQueue, error) {
	leases, err := db.newLeaseholder(lease)
	return &DeliveryQueue{leases}, err
}

// Deliveries leases at most limit deliveries, no two of one endpoint, also not among processes.
func (q *DeliveryQueue) Deliveries(ctx context.Context, limit int) ([]Delivery, error) {
	return leaseSome[Delivery](ctx, q.leases, "lease_deliveries", limit)
}

// Mails leases at most limit mails.
func (q *DeliveryQueue) Mails(ctx context.Context, limit int) ([]Mail, error) {
	return leaseSome[Mail](ctx, q.leases, "lease_mails", limit)
}

// EndDelivery stores an attempt, unless the lease was lost: then stored is false. It may disable the endpoint.
func (q *DeliveryQueue) EndDelivery(ctx context.Context, delivery uuid.UUID, a Attempt) (stored bool, err error) {
	rows, err := execRows(ctx, q.leases.db, "end_delivery", delivery, q.leases.id,
		a.Status, a.Wait.Seconds(), a.Code, a.Took.Milliseconds(), a.Error, a.Excerpt)
	return rows > 0, err
}

// EndMail stores an attempt, unless the lease was lost: then stored is false. It may stop the subscription.
func (q *DeliveryQueue) EndMail(ctx context.Context, mail uuid.UUID, a Attempt) (stored bool, err error) {
	rows, err := execRows(ctx, q.leases.db, "end_mail", mail, q.leases.id,
		a.Status, a.Wait.Seconds(), a.Code, a.Took.Milliseconds(), a.Error)
	return rows > 0, err
}

// DeliveryBacklog counts pending deliveries and mails by kind.
func (db *DB) DeliveryBacklog(ctx context.Context) ([]DeliveryBacklog, error) {
	return queryAll[DeliveryBacklog](ctx, db, "delivery_backlog")
}

// PruneEvents deletes events, deliveries, mails and judged days of more than 90 days ago, and addresses that were not
// confirmed within 7 days.
func (db *DB) PruneEvents(ctx context.Context) error {
	return exec(ctx, db, "prune_events")
}
