package api

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

//go:embed openapi.json
var openAPI []byte

const (
	longestWait   = 60 // seconds, of a long poll
	pollInterval  = 250 * time.Millisecond
	lookTimeout   = 5 * time.Second // of one look at the jobs of long polls
	cancelPatient = time.Second     // for requests in flight to end before a cancelled job is shown
	longestKey    = 512

	idempotencyKey = "Idempotency-Key"
)

func (s *Server) start(c *fiber.Ctx) error {
	brand, request, err := s.asked(c)
	if err != nil {
		return err
	}
	caller := identity.FromContext(c.UserContext())
	if err := mayStart(caller); err != nil {
		return err
	}
	by := tracking.Caller{UserID: &caller.UserID, IdempotencyKey: c.Get(idempotencyKey)}
	if len(by.IdempotencyKey) > longestKey || !utf8.ValidString(by.IdempotencyKey) {
		return problem.New(problem.Invalid, "Idempotency-Key: want at most %d bytes of UTF-8, got %d", longestKey, len(by.IdempotencyKey))
	}
	id, err := s.jobs.Start(c.UserContext(), brand, request, by)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Success bool      `json:"success"`
		JobID   uuid.UUID `json:"jobId"`
	}{true, id})
}

func (s *Server) estimate(c *fiber.Ctx) error {
	brand, request, err := s.asked(c)
	if err != nil {
		return err
	}
	plan, err := s.jobs.Plan(c.UserContext(), brand, request, s.now())
	if err != nil {
		return err
	}
	return c.JSON(plan.Estimate())
}

// progress is how far a job is.
type progress struct {
	Phase     string `json:"phase"`
	Completed int    `json:"completed"`
	Total     int    `json:"total"`
}

// shown is a job.
type shown struct {
	Status       string          `json:"status"`
	Progress     progress        `json:"progress"`
	Result       json.RawMessage `json:"result"`
	FailedReason *string         `json:"failedReason"`
}

func showing(j postgres.TrackingJob) shown {
	return shown{j.Status, progress{j.Phase, j.Completed, j.Total}, j.Result, j.FailedReason}
}

// show answers at once, or with ?wait= once something has changed.
func (s *Server) show(c *fiber.Ctx) error {
	wait, err := number(c, "wait", 0, 0, longestWait)
	if err != nil {
		return err
	}
	j, err := s.find(c)
	if err != nil {
		return err
	}
	if wait > 0 && !j.Finished() {
		if j, err = s.changed(c, j, time.Duration(wait)*time.Second); err != nil {
			return err
		}
	}
	return c.JSON(showing(j))
}

// changed waits until a job has changed, at most for so long.
func (s *Server) changed(c *fiber.Ctx, j postgres.TrackingJob, wait time.Duration) (postgres.TrackingJob, error) {
	ctx, done := context.WithTimeout(c.UserContext(), wait) // which ends when the server stops, too
	defer done()
	defer s.watch.join(postgres.JobKey{OrganizationID: identity.FromContext(ctx).OrganizationID, ID: j.ID})()
	for before := showing(j); reflect.DeepEqual(showing(j), before); {
		now, seen, err := s.watch.next(ctx, j.ID)
		if ctx.Err() != nil {
			return j, nil
		}
		if err == nil && !seen {
			now, err = s.find(c)
		}
		if err != nil {
			return j, err
		}
		j = now
	}
	return j, nil
}

// find finds the job of the path, which is of the caller's organization.
func (s *Server) find(c *fiber.Ctx) (j postgres.TrackingJob, err error) {
	id, err := uuid.FromString(c.Params("id"))
	if err == nil {
		j, err = s.db.TrackingJob(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, id)
		if !errors.Is(err, postgres.ErrNotFound) {
			return j, err
		}
	}
	return j, problem.New(problem.Missing, "no such job")
}

// cancel has a job ask nothing more, and shows it: finished, if what is in flight ends soon.
func (s *Server) cancel(c *fiber.Ctx) error {
	j, err := s.find(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	caller := identity.FromContext(ctx)
	if err := mayStart(caller); err != nil {
		return err
	}
	if err := s.db.CancelTracking(ctx, caller.OrganizationID, j.ID); err != nil {
		return err
	}
	for until := time.Now().Add(cancelPatient); ; {
		if j, err = s.find(c); err != nil || j.Finished() || time.Now().After(until) {
			break
		}
		if lifecycle.Pause(ctx, pollInterval) != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return c.JSON(showing(j))
}

// listed is a job of a list.
type listed struct {
	JobID     uuid.UUID `json:"jobId"`
	BrandID   uuid.UUID `json:"brandId"`
	Status    string    `json:"status"`
	Progress  progress  `json:"progress"`
	CreatedAt time.Time `json:"createdAt"`
}

func (s *Server) list(c *fiber.Ctx) error {
	organization := identity.FromContext(c.UserContext()).OrganizationID
	limit, err := number(c, "limit", 50, 1, 200)
	if err != nil {
		return err
	}
	var brand *uuid.UUID
	if text := c.Query("brand_id"); text != "" {
		id, err := uuid.FromString(text)
		if err != nil {
			return problem.New(problem.Invalid, "brand_id: want the UUID of a brand, got %.60q", text)
		}
		if _, err := s.db.Brand(c.UserContext(), organization, id); errors.Is(err, postgres.ErrNotFound) {
			return problem.New(problem.Missing, "no such brand")
		} else if err != nil {
			return err
		}
		brand = &id
	}
	below, err := parseCursor(c.Query("cursor"))
	if err != nil {
		return err
	}
	jobs, err := s.db.TrackingJobs(c.UserContext(), organization, brand, below, limit+1)
	if err != nil {
		return err
	}
	page := struct {
		Jobs       []listed `json:"jobs"`
		NextCursor *string  `json:"next_cursor"`
	}{Jobs: []listed{}}
	if len(jobs) > limit {
		jobs = jobs[:limit]
		next := cursorOf(jobs[limit-1])
		page.NextCursor = &next
	}
	for _, j := range jobs {
		page.Jobs = append(page.Jobs, listed{j.ID, j.BrandID, j.Status, progress{j.Phase, j.Completed, j.Total}, j.CreatedAt})
	}
	return c.JSON(page)
}

// cursorOf is where a list goes on after a job.
func cursorOf(j postgres.TrackingJob) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(j.CreatedAt.UnixMicro(), 10) + " " + j.ID.String()))
}

func parseCursor(text string) (*postgres.TrackingJob, error) {
	if text == "" {
		return nil, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	at, id, _ := strings.Cut(string(decoded), " ")
	micros, atErr := strconv.ParseInt(at, 10, 64)
	job, idErr := uuid.FromString(id)
	if err != nil || atErr != nil || idErr != nil {
		return nil, problem.New(problem.Invalid, "cursor: want the next_cursor of a page before, got %.60q", text)
	}
	return &postgres.TrackingJob{ID: job, CreatedAt: time.UnixMicro(micros)}, nil
}
