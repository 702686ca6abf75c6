package webhook

import (
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	answerTimeout  = 4 * time.Second
	defaultOverlap = 24 // hours
)

// Mount adds the paths to a router. The handlers before them find the caller.
func (m *Manager) Mount(router fiber.Router, before ...fiber.Handler) {
	post := func(path string, handle fiber.Handler) {
		router.Post(path, append(slices.Clone(before), httpd.RequireAdmin, httpd.Within(answerTimeout, handle))...)
	}
	post("", m.add)
	post("/:id/rotate", m.rotate)
	post("/:id/test", m.test)
	post("/:id/redeliver", m.redeliver)
}

// add adds an endpoint. Beside rotate, only its response has the secret.
func (m *Manager) add(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	request := struct {
		URL         string        `json:"url"`
		Kind        string        `json:"kind"`
		Events      []string      `json:"events"`
		BrandID     uuid.NullUUID `json:"brand_id"`
		Description string        `json:"description"`
	}{Kind: postgres.KindWebhook}
	want := `{"url": "https://…"}, and kind, events as a list, brand_id and description if they shall be ` +
		`others than the default`
	if err := httpd.ReadJSON(c, &request, want); err != nil {
		return err
	}
	added, err := m.Add(c.UserContext(), caller.UserID, postgres.WebhookEndpoint{
		OrganizationID: caller.OrganizationID, URL: request.URL, Kind: request.Kind, Events: request.Events,
		BrandID: request.BrandID, Description: request.Description,
	})
	if err != nil {
		return err
	}
	return c.Status(http.StatusCreated).JSON(added)
}

// endpoint finds the endpoint of a request's path.
func (m *Manager) endpoint(c *fiber.Ctx) (postgres.WebhookEndpoint, error) {
	id, _ := uuid.FromString(c.Params("id")) // another text is no endpoint's id
	return m.Find(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, id)
}

func (m *Manager) rotate(c *fiber.Ctx) error {
	request := struct {
		OverlapHours int `json:"overlap_hours"`
	}{defaultOverlap}
	if len(c.BodyRaw()) > 0 {
		if err := httpd.ReadJSON(c, &request, `{"overlap_hours": 0 to 168} or no body`); err != nil {
			return err
		}
	}
	e, err := m.endpoint(c)
	if err != nil {
		return err
	}
	user := identity.FromContext(c.UserContext()).UserID
	rotated, err := m.Rotate(c.UserContext(), user, e, request.OverlapHours)
	if err != nil {
		return err
	}
	return c.JSON(rotated)
}

func (m *Manager) test(c *fiber.Ctx) error {
	e, err := m.endpoint(c)
	if err != nil {
		return err
	}
	delivery, err := m.Test(c.UserContext(), e)
	if err != nil {
		return err
	}
	return c.Status(http.StatusAccepted).JSON(fiber.Map{"delivery_id": delivery})
}

func (m *Manager) redeliver(c *fiber.Ctx) error {
	var request struct {
		DeliveryID uuid.NullUUID `json:"delivery_id"`
		Since      *time.Time    `json:"since"`
		Until      *time.Time    `json:"until"`
	}
	want := `{"delivery_id": UUID} or {"since": time}, there with until or without; a time such as 2026-11-23T08:00:00Z`
	if err := httpd.ReadJSON(c, &request, want); err != nil {
		return err
	}
	e, err := m.endpoint(c)
	if err != nil {
		return err
	}
	n, err := m.Redeliver(c.UserContext(), e, postgres.Redelivery{
		Delivery: request.DeliveryID, Since: request.Since, Until: request.Until,
	})
	if err != nil {
		return err
	}
	return c.Status(http.StatusAccepted).JSON(fiber.Map{"deliveries": n})
}
