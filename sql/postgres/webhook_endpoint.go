package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// The kinds of endpoints.
const (
	KindWebhook = "webhook"
	KindSlack   = "slack" // or what else takes the messages of Slack
)

// WebhookEndpoint is where events are posted.
type WebhookEndpoint struct {
	ID              uuid.UUID     `db:"id" json:"id"`
	OrganizationID  uuid.UUID     `db:"organization_id" json:"organization_id"`
	BrandID         uuid.NullUUID `db:"brand_id" json:"brand_id"` // null: every brand
	Brand           *string       `db:"brand" json:"brand"`       // slug
	Kind            string        `db:"kind" json:"kind"`         // webhook or slack
	URL             string        `db:"url" json:"url"`           // of Slack without its secret part
	Description     string        `db:"description" json:"description"`
	Events          []string      `db:"events" json:"events"` // types; empty: all
	IsActive        bool          `db:"is_active" json:"is_active"`
	FailingSince    *time.Time    `db:"failing_since" json:"failing_since"` // nil: the last delivery arrived
	DisabledAt      *time.Time    `db:"disabled_at" json:"disabled_at"`
	DisabledReason  *string       `db:"disabled_reason" json:"disabled_reason"` // gone or failing
	LastDeliveredAt *time.Time    `db:"last_delivered_at" json:"last_delivered_at"`
	CreatedAt       time.Time     `db:"created_at" json:"created_at"`
}

// WebhookDelivery is one event for one endpoint.
type WebhookDelivery struct {
	ID             uuid.UUID  `db:"id" json:"id"`
	Event          string     `db:"event" json:"event"` // its type
	EventID        uuid.UUID  `db:"event_id" json:"event_id"`
	Status         string     `db:"status" json:"status"`
	Attempts       int        `db:"attempts" json:"attempts"`
	NextAttemptAt  time.Time  `db:"next_attempt_at" json:"next_attempt_at"` // while it is pending
	ResponseStatus *int       `db:"response_status" json:"response_status"` // of the last attempt
	DurationMS     *int       `db:"duration_ms" json:"duration_ms"`
	Error          *string    `db:"error" json:"error"`
	Excerpt        *string    `db:"response_excerpt" json:"response_excerpt"`
	DeliveredAt    *time.Time `db:"delivered_at" json:"delivered_at"`
	CreatedAt      time.Time  `db:"created_at" json:"created_at"`
}

// AddWebhookEndpoint stores an endpoint with its encrypted secret; the audit log names the user as for SetProviderKey.
// ErrNotFound if the organization has no such brand, ErrValue for unknown events, ErrLimit.
func (db *DB) AddWebhookEndpoint(ctx context.Context, user uuid.UUID, e WebhookEndpoint, sealed string) error {
	creator := uuid.NullUUID{UUID: user, Valid: !user.IsNil()}
	return db.asUser(ctx, user, func(tx Tx) error {
		return exec(ctx, tx, "add_webhook_endpoint", e.ID, e.OrganizationID, e.BrandID, e.Kind, e.URL, e.Description,
			e.Events, creator, sealed)
	})
}

// WebhookEndpoints returns the endpoints of an organization, the oldest first.
func (db *DB) WebhookEndpoints(ctx context.Context, organization uuid.UUID) ([]WebhookEndpoint, error) {
	return queryAll[WebhookEndpoint](ctx, db, "webhook_endpoints", organization, uuid.NullUUID{})
}

// WebhookEndpoint finds an endpoint of an organization, of any where that is null, or ErrNotFound.
func (db *DB) WebhookEndpoint(ctx context.Context, organization uuid.NullUUID, id uuid.UUID) (WebhookEndpoint, error) {
	return queryOne[WebhookEndpoint](ctx, db, "webhook_endpoints", organization, id)
}

// RemoveWebhookEndpoint deletes an endpoint with its secrets and deliveries, or returns ErrNotFound.
func (db *DB) RemoveWebhookEndpoint(ctx context.Context, id uuid.UUID) error {
	return wrap(execOne(ctx, db, "remove_webhook_endpoint", id), "remove webhook endpoint %s", id)
}

// RotateWebhookSecret stores a new encrypted secret. The current one signs beside it for the overlap, in whole seconds.
func (db *DB) RotateWebhookSecret(
	ctx context.Context, user uuid.UUID, e WebhookEndpoint, sealed string, overlap time.Duration,
) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		err := exec(ctx, tx, "lock", "secrets of "+e.ID.String()) // two at once make one secret after the other
		if err == nil {
			err = execOne(ctx, tx, "rotate_webhook_secret", e.ID, sealed, int(overlap.Seconds()))
		}
		return wrap(err, "rotate secret of webhook endpoint %s", e.ID)
	})
}

// TestWebhook adds an event for an endpoint alone and returns the id of its delivery; ErrNotFound without the endpoint.
func (db *DB) TestWebhook(ctx context.Context, endpoint uuid.UUID) (uuid.UUID, error) {
	delivery, err := queryOne[uuid.UUID](ctx, db, "test_webhook", endpoint)
	return delivery, wrap(err, "test webhook endpoint %s", endpoint)
}

// Redelivery selects one delivery, or those that did not arrive of the events of a time.
type Redelivery struct {
	Delivery     uuid.NullUUID
	Since, Until *time.Time
}

// Redeliver makes deliveries to an endpoint pending again and returns their number.
func (db *DB) Redeliver(ctx context.Context, endpoint uuid.UUID, r Redelivery) (int, error) {
	n, err := queryOne[int](ctx, db, "redeliver_webhooks", endpoint, r.Delivery, r.Since, r.Until)
	return n, wrap(err, "redeliver to webhook endpoint %s", endpoint)
}

// WebhookDeliveries returns the newest deliveries to an endpoint, the newest first.
func (db *DB) WebhookDeliveries(ctx context.Context, endpoint uuid.UUID, limit int) ([]WebhookDelivery, error) {
	return queryAll[WebhookDelivery](ctx, db, "webhook_deliveries", endpoint, uuid.NullUUID{}, limit)
}

// WebhookDelivery finds a delivery to an endpoint, or ErrNotFound.
func (db *DB) WebhookDelivery(ctx context.Context, endpoint, id uuid.UUID) (WebhookDelivery, error) {
	return queryOne[WebhookDelivery](ctx, db, "webhook_deliveries", endpoint, id, 1)
}
