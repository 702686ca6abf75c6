package oauth

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const listTimeout = 4 * time.Second

// MountApps adds /api/apps to a router: users list and end their connected apps, admins all of the organization. The
// handlers before find the caller. It stays while the feature is off, for apps that were connected before.
func MountApps(router fiber.Router, db *postgres.DB, before ...fiber.Handler) {
	router.Get("", append(slices.Clone(before), httpd.Within(listTimeout, func(c *fiber.Ctx) error {
		grants, err := db.OAuthGrants(c.UserContext(), managerOf(c))
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(fiber.Map{"apps": grants})
	}))...)
	router.Delete("/:id", append(slices.Clone(before), httpd.Within(listTimeout, func(c *fiber.Ctx) error {
		id := uuid.FromStringOrNil(c.Params("id")) // no grant has the nil UUID
		err := db.EndManagedOAuthGrant(c.UserContext(), managerOf(c), id)
		if errors.Is(err, postgres.ErrNotFound) {
			return problem.New(problem.Missing,
				"there is no such app, or it is not yours to end: want an id that GET /api/apps lists")
		}
		if err != nil {
			return err
		}
		return c.SendStatus(http.StatusNoContent)
	}))...)
}

func managerOf(c *fiber.Ctx) postgres.KeyManager {
	caller := identity.FromContext(c.UserContext())
	return postgres.KeyManager{UserID: caller.UserID, OrganizationID: caller.OrganizationID,
		Everyone: caller.AtLeast(identity.Admin)}
}
