package api

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
)

// cronPath is the route on the tracking server. The web side has one below /api, for a hosting platform's scheduler.
const cronPath = "/cron/daily-tracking"

const maxEventBytes = 255 // of the id of an event

// MountCron adds the tracking server's route for callers that know the secret; "" refuses all.
func (s *Server) MountCron(server *httpd.Server, secret string) {
	routes := server.Mount(httpd.Surface{Prefix: "/cron", BodyLimit: bodyLimit, Error: s.errorBody})
	routes.Post("/daily-tracking", requireSecret(secret), httpd.Parameters(), s.StartDue)
}

// MountWebCron adds the web side's route. startDue is StartDue of the same process, or ForwardCron. fiber's Get would
// start jobs on HEAD, too, which is for looking.
func MountWebCron(server *httpd.Server, secret string, startDue fiber.Handler) {
	routes := server.Mount(httpd.Surface{Prefix: "/api/cron", BodyLimit: bodyLimit})
	for _, method := range []string{fiber.MethodGet, fiber.MethodPost} {
		routes.Add(method, "/daily-tracking", requireSecret(secret), httpd.Parameters(), startDue)
	}
}

// requireSecret refuses callers that do not send the secret. The comparison takes the same time for all.
func requireSecret(secret string) fiber.Handler {
	want := sha256.Sum256([]byte(secret))
	return func(c *fiber.Ctx) error {
		if secret == "" {
			return refuseUnset(c, "nothing is started here: its operator sets CRON_SECRET, and the same one where "+
				"tracking jobs are worked on")
		}
		got := sha256.Sum256([]byte(httpd.Bearer(c.Get(fiber.HeaderAuthorization))))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return problem.New(problem.Unauthenticated,
				"missing or wrong secret: send Authorization: Bearer and the CRON_SECRET of this installation")
		}
		return noStore(c)
	}
}

// refuseUnset names the missing setting. A problem of this kind would be in the log as a failure of ours.
func refuseUnset(c *fiber.Ctx, message string) error {
	return c.Status(http.StatusServiceUnavailable).JSON(fiber.Map{"error": message})
}

// startedBody answers a request that starts due jobs.
type startedBody struct {
	Success bool `json:"success"`
	tracking.Report
	JobsEnqueued int  `json:"jobsEnqueued"`
	Repeated     bool `json:"repeated"` // its event had run before, and nothing was looked at
}

// StartDue starts jobs of the brands that were not asked in their present slot. An event that is sent again, as
// providers do, starts none; of two at the same time both look, and the slot is asked once.
func (s *Server) StartDue(c *fiber.Ctx) error {
	r, err := parseCron(c.BodyRaw())
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	if ran, err := s.db.CronEventRan(ctx, r.event); err != nil {
		return err
	} else if ran {
		nothing := tracking.Report{Jobs: []tracking.Started{}, Skipped: []tracking.Skipped{}}
		return c.JSON(startedBody{true, nothing, 0, true})
	}
	report, err := s.schedule.StartAll(ctx, r.organization, r.brand)
	switch {
	case err != nil:
		return err
	case report.Organizations == 0 && r.brand != nil:
		return problem.New(problem.Missing, "no such brand")
	case report.Organizations == 0 && r.organization != nil:
		return problem.New(problem.Missing, "no such organization")
	}
	if r.event != "" {
		if err := s.db.AddCronEvent(ctx, r.event); err != nil {
			return err
		}
	}
	return c.JSON(startedBody{true, report, len(report.Jobs), false})
}

// cronRequest is what a scheduler, or a provider's callback, asks to start.
type cronRequest struct {
	organization, brand *uuid.UUID // nil: all
	event               string     // "": none
}

// parseCron reads the body, which may be empty. It passes over fields that it does not know: a provider sends its own.
func parseCron(text []byte) (r cronRequest, err error) {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &fields); err != nil {
			return r, problem.New(problem.Invalid, "body: want a JSON object: %v", err)
		}
	}
	_ = json.Unmarshal(fields["id"], &r.event) // another type identifies no event
	if len(r.event) > maxEventBytes {
		return r, problem.New(problem.Invalid, "id: want the id of an event of at most %d bytes", maxEventBytes)
	}
	for name, id := range map[string]**uuid.UUID{
		"organization_id": &r.organization, "brand_id": &r.brand, "brandId": &r.brand,
	} {
		value, sent := fields[name]
		var parsed uuid.UUID
		if sent && (bytes.Equal(value, []byte("null")) || json.Unmarshal(value, &parsed) != nil) {
			return r, problem.New(problem.Invalid, "%s: want a UUID, got %.60s", name, value)
		}
		if sent {
			*id = &parsed
		}
	}
	return r, nil
}
