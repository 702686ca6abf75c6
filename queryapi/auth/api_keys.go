package auth

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

// A KeyManager serves /api/keys. Users mint keys for themselves, list and revoke their own, admins all of the
// organization. It is safe for concurrent use.
type KeyManager struct {
	db  *postgres.DB
	now func() time.Time
}

// NewKeyManager returns a KeyManager of the keys in db. The clock refuses keys that expire in the past.
func NewKeyManager(db *postgres.DB, now func() time.Time) *KeyManager {
	return &KeyManager{db: db, now: now}
}

// Mount adds the paths to a router. The handlers before them find the caller.
func (m *KeyManager) Mount(router fiber.Router, before ...fiber.Handler) {
	router.Get("", append(slices.Clone(before), httpd.Within(answerTimeout, m.list))...)
	router.Post("", append(slices.Clone(before), httpd.Within(answerTimeout, m.create))...)
	router.Delete("/:id", append(slices.Clone(before), httpd.Within(answerTimeout, m.revoke))...)
}

// create mints a key. Only its response has the text.
func (m *KeyManager) create(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	request, err := m.read(c.BodyRaw())
	if err != nil {
		return err
	}
	if err := CheckRole(caller.Role, request.Scopes...); err != nil {
		return err
	}
	minted := MintKey()
	stored, err := m.db.AddOwnKey(c.UserContext(), postgres.NewKey{
		OrganizationID: caller.OrganizationID, UserID: caller.UserID, Name: request.Name,
		Hash: minted.Hash, Prefix: minted.Prefix, Scopes: request.Scopes, ExpiresAt: request.ExpiresAt,
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
	}{stored.ID, minted.Text, stored.Name, stored.Prefix, effective(stored.Scopes), stored.ExpiresAt})
}

// keyRequest has the fields of a new key.
type keyRequest struct {
	Name      string
	Scopes    []string
	ExpiresAt *time.Time
}

// read decodes a body, or returns a problem that names every wrong field.
func (m *KeyManager) read(body []byte) (request keyRequest, err error) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(body, &fields) != nil {
		return request, problem.New(problem.Invalid,
			`the body is no JSON object: want {"name": …}, and scopes and expires_at if the default does not suit`)
	}
	targets := map[string]any{"name": &request.Name, "scopes": &request.Scopes, "expires_at": &request.ExpiresAt}
	wrong := map[string]string{}
	for field, value := range fields {
		if target, ok := targets[field]; !ok {
			wrong[field] = "is no field: want name, scopes, expires_at"
		} else if json.Unmarshal(value, target) != nil {
			wrong[field] = "" // explained below
		}
	}
	request.Name = strings.TrimSpace(request.Name)
	if _, unread := wrong["name"]; unread || !postgres.IsName(request.Name) {
		wrong["name"] = fmt.Sprintf(
			"want a text of 1 to %d bytes without control characters that says what the key is for", postgres.MaxName)
	}
	if _, unread := wrong["scopes"]; unread || CheckScopes(request.Scopes) != nil {
		wrong["scopes"] = "want a list of " + strings.Join(allScopes, ", ")
	}
	if _, unread := wrong["expires_at"]; unread || request.ExpiresAt != nil && !request.ExpiresAt.After(m.now()) {
		wrong["expires_at"] = "want a time to come, such as " + m.now().UTC().AddDate(1, 0, 0).Format(time.RFC3339) +
			", or null for never"
	}
	var problems []string
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		problems = append(problems, fmt.Sprintf("%.64s: %s", field, wrong[field]))
	}
	if len(problems) > 0 {
		return request, problem.New(problem.Invalid, "%s", strings.Join(problems, "; "))
	}
	slices.Sort(request.Scopes)
	request.Scopes = slices.Compact(request.Scopes)
	return request, nil
}

// list returns the caller's keys, to an admin everyone's, without their texts.
func (m *KeyManager) list(c *fiber.Ctx) error {
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

var errNoKey = problem.New(problem.Missing,
	"there is no such key, or it is not yours to revoke: want an id that GET /api/keys lists")

// revoke revokes a key; a revoked one stays revoked.
func (m *KeyManager) revoke(c *fiber.Ctx) error {
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
	everyone := caller.AtLeast(identity.Admin)
	return postgres.KeyManager{UserID: caller.UserID, OrganizationID: caller.OrganizationID, Everyone: everyone}
}
