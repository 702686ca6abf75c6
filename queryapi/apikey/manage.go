package apikey

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// answerTimeout bounds a handler that asks PostgreSQL, which may be silent.
const answerTimeout = 4 * time.Second

// A Manager answers /api/keys. Users make keys for themselves, see and revoke their own, and admins everyone's. It is
// safe for concurrent use.
type Manager struct {
	db  *postgres.DB
	now func() time.Time
}

// NewManager returns a Manager of the keys in db. The clock decides which keys would have expired when they are made.
func NewManager(db *postgres.DB, now func() time.Time) *Manager { return &Manager{db: db, now: now} }

// Mount adds the paths to a router. The handlers before them find who asks, by whatever credential.
func (m *Manager) Mount(router fiber.Router, before ...fiber.Handler) {
	router.Get("", append(slices.Clone(before), httpd.Within(answerTimeout, m.list))...)
	router.Post("", append(slices.Clone(before), httpd.Within(answerTimeout, m.create))...)
	router.Delete("/:id", append(slices.Clone(before), httpd.Within(answerTimeout, m.revoke))...)
}

// create makes a key. Its text is in the answer, and nowhere else.
func (m *Manager) create(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	asked, err := m.read(c.Body())
	if err != nil {
		return err
	}
	if err := CheckRole(caller.Role, asked.Scopes...); err != nil {
		return err
	}
	minted := Mint()
	kept, err := m.db.AddOwnKey(c.UserContext(), postgres.NewKey{
		OrganizationID: caller.OrganizationID, UserID: caller.UserID, Name: asked.Name,
		Hash: minted.Hash, Prefix: minted.Prefix, Scopes: asked.Scopes, ExpiresAt: asked.ExpiresAt,
	})
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(http.StatusCreated).JSON(struct {
		ID        uuid.UUID  `json:"id"`
		Key       string     `json:"key"`
		Name      string     `json:"name"`
		Prefix    string     `json:"prefix"`
		Scopes    []string   `json:"scopes"`
		ExpiresAt *time.Time `json:"expires_at"`
	}{kept.ID, minted.Text, kept.Name, kept.Prefix, effective(kept.Scopes), kept.ExpiresAt})
}

// request is what a new key shall be.
type request struct {
	Name      string
	Scopes    []string
	ExpiresAt *time.Time
}

// read returns what a body asks for, or a problem that names every field that is wrong.
func (m *Manager) read(body []byte) (asked request, err error) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(body, &fields) != nil {
		return asked, problem.New(problem.Invalid, `the body is no JSON object: want {"name": …}, and scopes and expires_at if they shall be others than the default`)
	}
	known := map[string]any{"name": &asked.Name, "scopes": &asked.Scopes, "expires_at": &asked.ExpiresAt}
	wrong := map[string]string{}
	for field, value := range fields {
		if into, ok := known[field]; !ok {
			wrong[field] = "is no field: want name, scopes, expires_at"
		} else if json.Unmarshal(value, into) != nil {
			wrong[field] = "" // said below
		}
	}
	asked.Name = strings.TrimSpace(asked.Name)
	if _, unread := wrong["name"]; unread || !postgres.IsName(asked.Name) {
		wrong["name"] = fmt.Sprintf("want a text of 1 to %d bytes without control characters that says what the key is for", postgres.MaxName)
	}
	if _, unread := wrong["scopes"]; unread || CheckScopes(asked.Scopes) != nil {
		wrong["scopes"] = "want a list of " + strings.Join(scopes, ", ")
	}
	if _, unread := wrong["expires_at"]; unread || asked.ExpiresAt != nil && !asked.ExpiresAt.After(m.now()) {
		wrong["expires_at"] = "want a time to come, such as " + m.now().UTC().AddDate(1, 0, 0).Format(time.RFC3339) + ", or null for never"
	}
	var said []string
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		said = append(said, fmt.Sprintf("%.64s: %s", field, wrong[field]))
	}
	if len(said) > 0 {
		return asked, problem.New(problem.Invalid, "%s", strings.Join(said, "; "))
	}
	slices.Sort(asked.Scopes)
	asked.Scopes = slices.Compact(asked.Scopes)
	return asked, nil
}

// list shows the caller's keys, to an admin everyone's; never a key's text.
func (m *Manager) list(c *fiber.Ctx) error {
	keys, err := m.db.ManagedKeys(c.UserContext(), managerOf(c))
	if err != nil {
		return err
	}
	for i := range keys {
		keys[i].Scopes = effective(keys[i].Scopes)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"keys": keys})
}

var errNoKey = problem.New(problem.Missing, "there is no such key, or it is not yours to revoke: want an id that GET /api/keys lists")

// revoke ends a key. One that has been revoked stays so.
func (m *Manager) revoke(c *fiber.Ctx) error {
	id, err := uuid.FromString(c.Params("id"))
	if err != nil {
		return errNoKey
	}
	err = m.db.RevokeManagedKey(c.UserContext(), managerOf(c), id)
	if errors.Is(err, postgres.ErrNotFound) {
		return errNoKey
	}
	if err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

func managerOf(c *fiber.Ctx) postgres.KeyManager {
	caller := identity.FromContext(c.UserContext())
	return postgres.KeyManager{UserID: caller.UserID, OrganizationID: caller.OrganizationID, Everyone: caller.AtLeast(identity.Admin)}
}
