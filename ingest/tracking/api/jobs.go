package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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

const (
	maxWaitSeconds     = 60 // of a long poll
	pollInterval       = time.Second
	lookupTimeout      = 5 * time.Second // of one read of a job
	cancelWait         = time.Second     // for requests in flight to end before a cancelled job is shown
	cancelPollInterval = 250 * time.Millisecond

	idempotencyKeyHeader   = "Idempotency-Key"
	maxIdempotencyKeyBytes = 512
)

func (s *Server) start(c *fiber.Ctx) error {
	brand, request, err := s.startRequest(c)
	if err != nil {
		return err
	}
	caller := identity.FromContext(c.UserContext())
	if err := checkMaySpend(caller); err != nil {
		return err
	}
	key := c.Get(idempotencyKeyHeader)
	if len(key) > maxIdempotencyKeyBytes || !utf8.ValidString(key) {
		return problem.New(problem.Invalid, "Idempotency-Key: want at most %d bytes of UTF-8, got %d",
			maxIdempotencyKeyBytes, len(key))
	}
	by := tracking.Caller{UserID: &caller.UserID, IdempotencyKey: key}
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
	brand, request, err := s.startRequest(c)
	if err != nil {
		return err
	}
	draft, err := s.jobs.Draft(c.UserContext(), brand, request, nil, s.now())
	if err != nil {
		return err
	}
	return c.JSON(draft.Estimate())
}

type jobBody struct {
	Status       string          `json:"status"`
	Progress     progress        `json:"progress"`
	Result       json.RawMessage `json:"result"`
	FailedReason *string         `json:"failedReason"`
}

type progress struct {
	Phase     string `json:"phase"`
	Completed int    `json:"completed"`
	Total     int    `json:"total"`
}

func newJobBody(j postgres.TrackingJob) jobBody {
	return jobBody{j.Status, progress{j.Phase, j.Completed, j.Total}, j.Result, j.FailedReason}
}

// show answers at once, or with ?wait= when the job has changed.
func (s *Server) show(c *fiber.Ctx) error {
	seconds, err := intQuery(c, "wait", 0, 0, maxWaitSeconds)
	if err != nil {
		return err
	}
	j, err := s.findJob(c)
	if err != nil {
		return err
	}
	if seconds > 0 {
		end, ok := s.waits.TryAcquire(identity.FromContext(c.UserContext()).CallerID())
		if !ok {
			return problem.New(problem.TooMany, "you wait for %d jobs already: want at most so many at once", maxWaits)
		}
		defer end()
	}
	wait, done := context.WithTimeout(c.UserContext(), time.Duration(seconds)*time.Second) // ends with the server, too
	defer done()
	before := newJobBody(j)
	for !j.Finished() && reflect.DeepEqual(newJobBody(j), before) && lifecycle.Pause(wait, pollInterval) == nil {
		now, err := s.findJob(c)
		if wait.Err() != nil && err != nil {
			break // answers with the last state
		}
		if err != nil {
			return err
		}
		j = now
	}
	return c.JSON(newJobBody(j))
}

// maxWaits is how many requests of a caller wait at once: each asks the database once a second.
const maxWaits = 20

// findJob finds the job of the path in the caller's organization.
func (s *Server) findJob(c *fiber.Ctx) (j postgres.TrackingJob, err error) {
	id, err := uuid.FromString(c.Params("id"))
	if err != nil {
		return j, problem.New(problem.Missing, "no such job")
	}
	ctx, done := context.WithTimeout(c.UserContext(), lookupTimeout)
	defer done()
	j, err = s.db.TrackingJob(ctx, identity.FromContext(ctx).OrganizationID, id)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "no such job")
	}
	return j, err
}

// cancel stops a job from asking, and shows it: finished, if the requests in flight end soon.
func (s *Server) cancel(c *fiber.Ctx) error {
	j, err := s.findJob(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	caller := identity.FromContext(ctx)
	if err := checkMaySpend(caller); err != nil {
		return err
	}
	if err := s.db.CancelTracking(ctx, caller.OrganizationID, j.ID); err != nil {
		return err
	}
	for deadline := time.Now().Add(cancelWait); ; {
		if j, err = s.findJob(c); err != nil {
			return err
		}
		if j.Finished() || time.Now().After(deadline) || lifecycle.Pause(ctx, cancelPollInterval) != nil {
			return c.JSON(newJobBody(j))
		}
	}
}

type jobListItem struct {
	JobID     uuid.UUID `json:"jobId"`
	BrandID   uuid.UUID `json:"brandId"`
	Status    string    `json:"status"`
	Progress  progress  `json:"progress"`
	CreatedAt time.Time `json:"createdAt"`
}

func (s *Server) list(c *fiber.Ctx) error {
	organization := identity.FromContext(c.UserContext()).OrganizationID
	limit, err := intQuery(c, "limit", 50, 1, 200)
	if err != nil {
		return err
	}
	var brandID *uuid.UUID
	if text := c.Query("brand_id"); text != "" {
		id, err := parseBrandID("brand_id", text)
		if err != nil {
			return err
		}
		brand, err := s.findBrand(c, id)
		if err != nil {
			return err
		}
		brandID = &brand.ID
	}
	after, err := parseCursor(c.Query("cursor"))
	if err != nil {
		return err
	}
	jobs, err := s.db.TrackingJobs(c.UserContext(), organization, brandID, after, limit+1)
	if err != nil {
		return err
	}
	page := struct {
		Jobs       []jobListItem `json:"jobs"`
		NextCursor *string       `json:"next_cursor"`
	}{Jobs: []jobListItem{}}
	if len(jobs) > limit {
		jobs = jobs[:limit]
		page.NextCursor = new(cursorAfter(jobs[limit-1]))
	}
	for _, j := range jobs {
		item := jobListItem{j.ID, j.BrandID, j.Status, progress{j.Phase, j.Completed, j.Total}, j.CreatedAt}
		page.Jobs = append(page.Jobs, item)
	}
	return c.JSON(page)
}

// cursorAfter encodes the job after which the next page begins.
func cursorAfter(j postgres.TrackingJob) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", j.CreatedAt.UnixMicro(), j.ID))
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
