package collector

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// request is the state of one request. It is used again for another: done clears it, the visitor's address above all.
type request struct {
	c *Collector

	at         time.Time
	agent      string // User-Agent; the bytes are the request's
	address    netip.Addr
	cdnCountry string        // what a trusted proxy says of the visitor's country
	wait       time.Duration // until the site's limit lets this pass

	beacons []beacon
	sites   []*site.Site // of each beacon; then of each visit
	encoded []byte       // the visits, one after the other
	ends    []int        // where each ends in encoded
	values  [][]byte     // one slice of encoded per visit
	visit   event.Visit  // the one that is being encoded
}

// Handle answers one request for Path, whatever its method.
func (c *Collector) Handle(f *fiber.Ctx) error {
	r := c.requests.Get().(*request)
	defer r.done()
	r.at = time.Now()
	r.agent = text(f.Request().Header.Peek(fiber.HeaderUserAgent))
	f.Response().Header.Set(fiber.HeaderVary, fiber.HeaderOrigin)
	err := r.serve(f)
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return err
	}
	c.metrics.beacons.WithLabelValues("refused", refused.reason).Add(float64(max(len(r.beacons), 1)))
	return r.refuse(f, refused)
}

// serve is the way of a beacon: decode, admit, make visits, limit them, append them.
func (r *request) serve(f *fiber.Ctx) error {
	switch f.Method() {
	case fiber.MethodPost:
	case fiber.MethodOptions:
		return r.preflight(f)
	default:
		return errMethod
	}
	if err := r.decode(f); err != nil {
		return err
	}
	if err := r.admit(f); err != nil {
		return err
	}
	reason, dropped, err := r.visits(f)
	if err != nil {
		return err
	}
	if err := r.limit(); err != nil {
		return err
	}
	if err := r.append(); err != nil {
		return err
	}
	if dropped > 0 {
		r.c.metrics.dropped[reason].Add(float64(dropped))
		header := "dropped; reason=" + reason
		if len(r.beacons) > 1 {
			header += "; count=" + strconv.Itoa(dropped)
		}
		f.Response().Header.Set(headerAnswerscope, header)
	}
	r.c.metrics.accepted.Add(float64(len(r.values)))
	f.Status(http.StatusNoContent)
	return nil
}

// decode reads the body, if it may be one.
func (r *request) decode(f *fiber.Ctx) error {
	header := &f.Request().Header
	if len(header.Peek(fiber.HeaderContentEncoding)) > 0 {
		return errEncoded
	}
	kind, _, _ := strings.Cut(text(header.ContentType()), ";") // parameters, such as a charset, say nothing that the body does not
	kind = strings.TrimSpace(kind)
	if !strings.EqualFold(kind, "text/plain") && !strings.EqualFold(kind, "application/json") {
		return errType
	}
	body := f.Request().Body()
	if len(body) > maxBody {
		return errSize
	}
	var err error
	r.beacons, err = decode(body, r.beacons)
	return err
}

// admit checks that every beacon comes from its brand's site.
func (r *request) admit(f *fiber.Ctx) error {
	origin, err := originOf(f)
	if err != nil {
		return err
	}
	var from string // the origin's host
	if origin != "" {
		var ok bool
		if from, ok = site.OriginHost(origin); !ok {
			return errOrigin
		}
	}
	for i := range r.beacons {
		b := &r.beacons[i]
		host := from
		if origin == "" {
			host = b.page.host
		}
		of, ok := r.c.parts.Sites.Site(b.brand)
		switch {
		case !ok && r.c.parts.Sites.Ready(f.Context()) != nil:
			return errUnready
		case !ok:
			return errBrand
		case !of.Allows(host):
			return errOrigin
		}
		r.sites = append(r.sites, of)
	}
	if origin != "" {
		allowOrigin(f, origin)
	}
	return nil
}

// visits makes and encodes what is to be appended, and leaves its sites. It returns how many beacons are dropped, and
// why.
func (r *request) visits(f *fiber.Ctx) (reason string, dropped int, err error) {
	if reason := r.unwanted(f); reason != "" {
		r.sites = r.sites[:0]
		return reason, len(r.beacons), nil
	}
	for i := range r.beacons {
		b := &r.beacons[i]
		platform, by := platformOf(b)
		if platform == "" {
			dropped++
			continue
		}
		if len(r.ends) == 0 {
			r.locate(f)
		}
		r.visitOf(&r.visit, b, r.sites[i], platform, by)
		if r.encoded, err = event.EncodeVisit(r.encoded, &r.visit); err != nil {
			return "", 0, malformed("a text is not UTF-8; want UTF-8 without NUL")
		}
		r.sites[len(r.ends)] = r.sites[i] // those before it are of visits
		r.ends = append(r.ends, len(r.encoded))
	}
	r.sites = r.sites[:len(r.ends)]
	begin := 0
	for _, end := range r.ends {
		r.values = append(r.values, r.encoded[begin:end])
		begin = end
	}
	return dropNoSource, dropped, nil
}

// limit counts the visits of each site at once. Of an array of several sites the first ones may have been counted when
// a later one is over its limit: that costs them room, never a visit.
func (r *request) limit() error {
	for first := 0; first < len(r.sites); {
		end := first + 1
		for end < len(r.sites) && r.sites[end].BrandID == r.sites[first].BrandID {
			end++
		}
		if r.wait = r.c.limits.take(r.sites[first].BrandID, r.address, end-first, r.at); r.wait > 0 {
			return errLimit
		}
		first = end
	}
	return nil
}

// append appends the visits.
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
	case errors.Is(err, producer.ErrNoRoom):
		return errDisk
	case errors.Is(err, producer.ErrNotReady):
		return errUnready
	case errors.Is(err, producer.ErrStopped):
		return errStopping
	case errors.Is(err, producer.ErrAway):
		return errAway
	}
	r.c.appendErrors.Do(func() {
		r.c.log.Error("append visit", "error", err, "next", "see why the broker refuses the record; its beacon was answered 500 and is not counted")
	})
	return errFailed
}

// done forgets the request and keeps the room that it took, unless that is a lot.
func (r *request) done() {
	clear(r.beacons)
	clear(r.sites)
	clear(r.values)
	kept := request{c: r.c, beacons: r.beacons[:0], sites: r.sites[:0], ends: r.ends[:0], values: r.values[:0]}
	if cap(r.encoded) <= 4*maxBody {
		kept.encoded = r.encoded[:0]
	}
	*r = kept
	r.c.requests.Put(r)
}

// text reads bytes of a request as a string without copying them. It must not outlive the request.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
