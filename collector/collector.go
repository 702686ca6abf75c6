package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/script"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Path is where beacons are posted.
const Path = "/t/collect"

// Parts are what a Collector asks about each beacon, and what it hands the visits to.
type Parts struct {
	Sites    *site.Directory
	Visitors *visitor.Visitors
	Agents   *useragent.Agents

	// Append returns nil when the topic has all values for good. Its errors are those of producer.Append:
	// ErrOverloaded, ErrNotReady and ErrStopped say that it has none of them. It keeps no value.
	Append func(ctx context.Context, topic string, values ...[]byte) error
}

// Collector answers POST /t/collect.
type Collector struct {
	cfg      Config
	parts    Parts
	limits   *limits
	metrics  *metrics
	log      *slog.Logger
	told     atomic.Int64 // Unix second of the last failure in the log
	requests sync.Pool    // of *request
}

// New makes a collector. Its metrics are registered on reg.
func New(cfg Config, parts Parts, reg prometheus.Registerer, log *slog.Logger) (*Collector, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure collector: %w", err)
	}
	m, err := newMetrics(reg)
	if err != nil {
		return nil, fmt.Errorf("configure collector: %w", err)
	}
	c := &Collector{cfg: cfg, parts: parts, limits: newLimits(cfg.SiteLimit, time.Now()), metrics: m, log: log}
	c.requests.New = func() any { return &request{c: c} }
	return c, nil
}

// Mount adds the routes: that of beacons past the edge, which costs more than a beacon does, and those of the script.
func (c *Collector) Mount(server *httpd.Server) {
	server.Direct(Path, c.Handle)
	script.Mount(server.App)
}

// Handle answers one request for Path, whatever its method.
func (c *Collector) Handle(f *fiber.Ctx) error {
	r := c.requests.Get().(*request)
	defer r.done()
	r.begin(f, time.Now())
	f.Response().Header.Set(fiber.HeaderVary, fiber.HeaderOrigin)
	err := r.serve(f)
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return err
	}
	c.metrics.refused(refused.reason, max(len(r.beacons), 1))
	return c.refuse(f, r, refused)
}

func (r *request) serve(f *fiber.Ctx) error {
	switch f.Method() {
	case fiber.MethodPost:
	case fiber.MethodOptions:
		origin, err := r.origin(f)
		if err != nil {
			return err
		}
		return r.c.preflight(f, origin)
	default:
		return errMethod
	}
	if err := r.read(f); err != nil {
		return err
	}
	if err := r.admit(f); err != nil {
		return err
	}
	reason, dropped, err := r.visits(f)
	if err != nil {
		return err
	}
	if err := r.append(); err != nil {
		return err
	}
	if dropped > 0 {
		r.c.metrics.dropped[reason].Add(float64(dropped))
		said := "dropped; reason=" + reason
		if len(r.beacons) > 1 {
			said += "; count=" + strconv.Itoa(dropped)
		}
		f.Response().Header.Set(headerAnswerscope, said)
	}
	r.c.metrics.accepted.Add(float64(len(r.values)))
	f.Status(http.StatusNoContent)
	return nil
}

// The refusals that say the same of every request.
var (
	errMethod   = &refusal{http.StatusMethodNotAllowed, "method", "method not allowed; see the Allow header"}
	errEncoded  = &refusal{http.StatusUnsupportedMediaType, "encoding", "want a body without Content-Encoding"}
	errType     = &refusal{http.StatusUnsupportedMediaType, "content_type", "want text/plain or application/json"}
	errSize     = &refusal{http.StatusRequestEntityTooLarge, "size", "want at most 8192 bytes"}
	errOrigin   = &refusal{http.StatusForbidden, "origin", "the origin is not a registered domain of the brand"}
	errBrand    = &refusal{http.StatusForbidden, "brand", "the origin is not a registered domain of the brand"} // nobody learns which brands there are
	errLimit    = &refusal{http.StatusTooManyRequests, "limit", "too many beacons of this site"}
	errUnready  = &refusal{http.StatusServiceUnavailable, "unready", "not ready yet; try again"}
	errOverload = &refusal{http.StatusServiceUnavailable, "overloaded", "overloaded; try again"}
	errStopping = &refusal{http.StatusServiceUnavailable, "stopping", "stopping; try again"}
	errAway     = &refusal{http.StatusInternalServerError, "away", "not known to be kept"} // it may be: sent again it would be counted twice
	errFailed   = &refusal{http.StatusInternalServerError, "failed", "internal error"}
)

// refuse writes an answer that is no 204.
func (c *Collector) refuse(f *fiber.Ctx, r *request, refused *refusal) error {
	header := &f.Response().Header
	switch refused.status {
	case http.StatusMethodNotAllowed:
		header.Set(fiber.HeaderAllow, allowedMethods)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set(fiber.HeaderRetryAfter, strconv.Itoa(r.retryAfter()))
	}
	// A page of ours may read what is wrong with its beacon, but not a page that is somebody else's than the brand's.
	if len(header.Peek(fiber.HeaderAccessControlAllowOrigin)) == 0 && refused.status != http.StatusForbidden {
		if origin, err := r.origin(f); err == nil && origin != "" && c.known(origin) {
			share(f, origin)
		}
	}
	return f.Status(refused.status).JSON(fiber.Map{"error": refused.message})
}

// retryAfter is in whole seconds.
func (r *request) retryAfter() int {
	return max(1, int((r.wait+time.Second-1)/time.Second))
}

// append hands the visits over and words what comes of it.
func (r *request) append() error {
	if len(r.values) == 0 {
		return nil
	}
	// Without the request's context: what has joined a batch is counted, and its answer waits for that.
	err := r.c.parts.Append(context.Background(), event.TopicVisits, r.values...)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, producer.ErrOverloaded):
		return errOverload
	case errors.Is(err, producer.ErrNotReady):
		return errUnready
	case errors.Is(err, producer.ErrStopped):
		return errStopping
	case errors.Is(err, producer.ErrAway):
		return errAway
	}
	if now, last := r.at.Unix(), r.c.told.Load(); now != last && r.c.told.CompareAndSwap(last, now) {
		r.c.log.Error("append visit", "error", err, "next", "see why the broker refuses the record; its beacon was answered 500 and is not counted")
	}
	return errFailed
}

// contentType reports whether a body of this type is read; parameters, such as a charset, say nothing that the body
// does not.
func contentType(header string) bool {
	kind, _, _ := strings.Cut(header, ";")
	kind = strings.TrimSpace(kind)
	return strings.EqualFold(kind, "text/plain") || strings.EqualFold(kind, "application/json")
}
