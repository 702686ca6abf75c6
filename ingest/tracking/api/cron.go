package api

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
)

// cronPath is the route on the tracking server. The web side has one below /api, for a hosting platform's scheduler.
const cronPath = "/cron/daily-tracking"

// MountCron adds the tracking server's route for callers that know the secret, which is not empty.
func (s *Server) MountCron(server *httpd.Server, secret string) {
	routes := server.Mount(httpd.Surface{Prefix: "/cron", BodyLimit: bodyLimit, Error: s.errorBody})
	routes.Post("/daily-tracking", requireSecret(secret), s.StartDue)
}

// MountWebCron adds the web side's route. startDue is StartDue of the same process, or ForwardCron.
func MountWebCron(server *httpd.Server, secret string, startDue fiber.Handler) {
	routes := server.Mount(httpd.Surface{Prefix: "/api/cron", BodyLimit: bodyLimit})
	routes.Get("/daily-tracking", requireSecret(secret), startDue)
	routes.Post("/daily-tracking", requireSecret(secret), startDue)
}

// requireSecret refuses callers that do not send the secret. The comparison takes the same time for all.
func requireSecret(secret string) fiber.Handler {
	want := sha256.Sum256([]byte(secret))
	return func(c *fiber.Ctx) error {
		got := sha256.Sum256([]byte(httpd.Bearer(c.Get(fiber.HeaderAuthorization))))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return problem.New(problem.Unauthenticated,
				"missing or wrong secret: send Authorization: Bearer and the CRON_SECRET of this installation")
		}
		return noStore(c)
	}
}

// StartDue starts jobs of the brands that were not asked in their present slot.
func (s *Server) StartDue(c *fiber.Ctx) error {
	var body struct {
		OrganizationID *string `json:"organization_id"`
	}
	if len(bytes.TrimSpace(c.BodyRaw())) > 0 {
		if err := decode(c.BodyRaw(), &body); err != nil {
			return err
		}
	}
	var organization *uuid.UUID
	if body.OrganizationID != nil {
		id, err := uuid.FromString(*body.OrganizationID)
		if err != nil {
			return problem.New(problem.Invalid, "organization_id: want a UUID, got %.60q", *body.OrganizationID)
		}
		organization = &id
	}
	report, err := s.schedule.StartAll(c.UserContext(), organization)
	if err != nil {
		return err
	}
	if organization != nil && report.Organizations == 0 {
		return problem.New(problem.Missing, "no such organization")
	}
	return c.JSON(struct {
		Success bool `json:"success"`
		tracking.Report
		JobsEnqueued int `json:"jobsEnqueued"`
	}{true, report, len(report.Jobs)})
}
