// Package webhook serves /api/webhooks: admins add endpoints, to which pipeline/notify sends events, rotate their
// secrets, test them and have events sent again. /rest/v1 lists and changes them.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	secretBytes    = 32
	maxDescription = 200                 // characters
	maxOverlap     = 168                 // hours in which the previous secret signs too
	retention      = 90 * 24 * time.Hour // of events
)

// A Manager adds and changes endpoints. It is safe for concurrent use.
type Manager struct {
	db     *postgres.DB
	ring   secret.Ring
	client *egress.Client
	now    func() time.Time
}

// NewManager returns a Manager whose secrets are encrypted with ring, and whose URLs client may reach.
func NewManager(db *postgres.DB, ring secret.Ring, client *egress.Client, now func() time.Time) *Manager {
	return &Manager{db: db, ring: ring, client: client, now: now}
}

// Added is a new endpoint.
type Added struct {
	ID     uuid.UUID `json:"id"`
	URL    string    `json:"url"` // of Slack without its secret part
	Events []string  `json:"events"`
	Secret string    `json:"secret,omitempty"` // of Slack none: its URL is the secret
}

// Add adds an endpoint of an organization, for the user or the command line (uuid.Nil). Wrong fields are problems.
func (m *Manager) Add(ctx context.Context, user uuid.UUID, e postgres.WebhookEndpoint) (a Added, err error) {
	if e.URL, err = m.check(e); err != nil {
		return a, err
	}
	e.ID = uuid.Must(uuid.NewV4())
	hidden := e.URL
	if e.Kind == postgres.KindSlack {
		e.URL = shortened(e.URL)
	} else {
		a.Secret = newSecret()
		hidden = a.Secret
	}
	a.ID, a.URL, a.Events = e.ID, e.URL, append([]string{}, e.Events...)
	err = m.db.AddWebhookEndpoint(ctx, user, e, m.ring.Seal([]byte(hidden), e.ID.String()))
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "there is no such brand: want an id that GET /rest/v1/brands lists")
	}
	return a, err
}

// check returns an endpoint's URL in the form that is stored.
func (m *Manager) check(e postgres.WebhookEndpoint) (string, error) {
	if err := m.checkRing(); err != nil {
		return "", err
	}
	switch {
	case e.Kind != postgres.KindWebhook && e.Kind != postgres.KindSlack:
		return "", problem.New(problem.Invalid, "kind: want webhook or slack")
	case utf8.RuneCountInString(e.Description) > maxDescription:
		return "", problem.New(problem.Invalid, "description: want at most %d characters", maxDescription)
	}
	return m.client.CheckURL(e.URL)
}

func (m *Manager) checkRing() error {
	if m.ring.IsSet() {
		return nil
	}
	return problem.New(problem.Unavailable,
		"secrets cannot be stored: the operator gives ANSWERSCOPE_SECRET_KEYS, the same to every process")
}

// newSecret returns a secret in the form of Standard Webhooks.
func newSecret() string {
	key := make([]byte, secretBytes)
	rand.Read(key)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// shortened returns the origin and the last four characters of a URL whose path is a secret.
func shortened(text string) string {
	address, err := url.Parse(text)
	if err != nil { // CheckURL has read it
		return ""
	}
	return address.Scheme + "://" + address.Host + "/…" + text[max(0, len(text)-4):]
}

// Find finds an endpoint of an organization.
func (m *Manager) Find(ctx context.Context, organization, id uuid.UUID) (postgres.WebhookEndpoint, error) {
	e, err := m.db.WebhookEndpoint(ctx, uuid.NullUUID{UUID: organization, Valid: true}, id)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing,
			"there is no such endpoint: want an id that GET /rest/v1/webhook_endpoints lists")
	}
	return e, err
}

// Rotated is a new secret of an endpoint.
type Rotated struct {
	Secret          string    `json:"secret"`
	PreviousExpires time.Time `json:"previous_expires_at"` // until then both sign
}

// Rotate gives an endpoint another secret.
func (m *Manager) Rotate(
	ctx context.Context, user uuid.UUID, e postgres.WebhookEndpoint, overlapHours int,
) (r Rotated, err error) {
	if err := m.checkRing(); err != nil {
		return r, err
	}
	if overlapHours < 0 || overlapHours > maxOverlap {
		return r, problem.New(problem.Invalid, "overlap_hours: want 0 to %d hours in which both secrets sign",
			maxOverlap)
	}
	if e.Kind == postgres.KindSlack {
		return r, problem.New(problem.Conflict,
			"the secret of a Slack endpoint is its URL: remove it and add the new URL")
	}
	overlap := time.Duration(overlapHours) * time.Hour
	r = Rotated{newSecret(), m.now().UTC().Add(overlap).Truncate(time.Second)}
	return r, m.db.RotateWebhookSecret(ctx, user, e, m.ring.Seal([]byte(r.Secret), e.ID.String()), overlap)
}

// Test has an event sent to an endpoint alone and returns the id of its delivery.
func (m *Manager) Test(ctx context.Context, e postgres.WebhookEndpoint) (delivery uuid.UUID, err error) {
	if err := requireActive(e); err != nil {
		return uuid.Nil, err
	}
	return m.db.TestWebhook(ctx, e.ID)
}

// Redeliver has one delivery sent again, or everything that did not arrive of the events since a time, and returns how
// many deliveries that are.
func (m *Manager) Redeliver(ctx context.Context, e postgres.WebhookEndpoint, r postgres.Redelivery) (int, error) {
	now := m.now()
	switch {
	case r.Delivery.Valid == (r.Since != nil) || r.Delivery.Valid && r.Until != nil:
		return 0, problem.New(problem.Invalid,
			`want either {"delivery_id": …} or {"since": …}, there with until or without`)
	case r.Since != nil && (r.Since.After(now) || r.Since.Before(now.Add(-retention))):
		return 0, problem.New(problem.Invalid, "since: want a time of the last 90 days, such as %s",
			now.UTC().Add(-24*time.Hour).Format(time.RFC3339))
	case r.Until != nil && r.Until.Before(*r.Since):
		return 0, problem.New(problem.Invalid, "until: want a time after since")
	}
	if err := requireActive(e); err != nil {
		return 0, err
	}
	if r.Since != nil && r.Until == nil {
		r.Until = &now
	}
	n, err := m.db.Redeliver(ctx, e.ID, r)
	if err == nil && n == 0 && r.Delivery.Valid {
		err = problem.New(problem.Missing,
			"there is no such delivery: want an id that GET /rest/v1/webhook_deliveries lists")
	}
	return n, err
}

func requireActive(e postgres.WebhookEndpoint) error {
	if e.IsActive {
		return nil
	}
	return problem.New(problem.Conflict,
		`switch it on first: PATCH /rest/v1/webhook_endpoints?id=eq.%s with {"is_active": true}`, e.ID)
}
