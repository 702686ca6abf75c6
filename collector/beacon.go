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
	cdnCountry string        // the visitor's country, as a trusted proxy names it
	wait       time.Duration // until the site's limit lets this pass

	beacons    []beacon
	sites      []*site.Site // by beacon
	visit      event.Visit  // the one that is being encoded
	visitSites []*site.Site // by visit
	encoded    []byte       // the visits, one after the other
	ends       []int        // where each ends in encoded
	values     [][]byte     // one slice of encoded per visit
}

// Handle answers one request for Path, of any method.
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

// serve takes a beacon through its steps: read, admit, make visits, limit them, append them.
func (r *request) serve(f *fiber.Ctx) error {
	switch f.Method() {
	case fiber.MethodPost:
	case fiber.MethodOptions:
		return r.preflight(f)
	default:
		return errMethod
	}
	if err := r.readBody(f); err != nil {
		return err
	}
	if err := r.admit(f); err != nil {
		return err
	}
	reason, dropped, err := r.makeVisits(f)
	if err != nil {
		return err
	}
	if err := r.limit(); err != nil {
		return err
	}
	if err := r.appendVisits(); err != nil {
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

// readBody decodes the body, if its headers allow one.
func (r *request) readBody(f *fiber.Ctx) (err error) {
	header := &f.Request().Header
	if len(header.Peek(fiber.HeaderContentEncoding)) > 0 {
		return errEncoded
	}
	kind, _, _ := strings.Cut(text(header.ContentType()), ";") // without parameters, such as a charset
	kind = strings.TrimSpace(kind)
	if !strings.EqualFold(kind, "text/plain") && !strings.EqualFold(kind, "application/json") {
		return errType
	}
	body := f.Request().Body()
	if len(body) > maxBody {
		return errSize
	}
	r.beacons, err = decode(body, r.beacons)
	return err
}

// admit checks that every beacon comes from its brand's site.
func (r *request) admit(f *fiber.Ctx) error {
	origin, err := originOf(f)
	if err != nil {
		return err
	}
	var originHost string
	if origin != "" {
		var ok bool
		if originHost, ok = site.OriginHost(origin); !ok {
			return errOrigin
		}
	}
	for i := range r.beacons {
		b := &r.beacons[i]
		host := originHost
		if origin == "" {
			host = b.page.host
		}
		s, ok := r.c.parts.Sites.Site(b.brand)
		switch {
		case !ok && r.c.parts.Sites.Ready(f.Context()) != nil:
			return errUnready
		case !ok:
			return errBrand
		case !s.Allows(host):
			return errOrigin
		}
		r.sites = append(r.sites, s)
	}
	if origin != "" {
		allowOrigin(f, origin)
	}
	return nil
}

// makeVisits makes and encodes the visits to append. It returns how many beacons are dropped, and why.
func (r *request) makeVisits(f *fiber.Ctx) (reason string, dropped int, err error) {
	if reason := r.unwanted(f); reason != "" {
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
		r.fill(&r.visit, b, r.sites[i], platform, by)
		if r.encoded, err = event.EncodeVisit(r.encoded, &r.visit); err != nil {
			return "", 0, malformed("a text is not UTF-8; want UTF-8 without NUL")
		}
		r.visitSites = append(r.visitSites, r.sites[i])
		r.ends = append(r.ends, len(r.encoded))
	}
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
	for first := 0; first < len(r.visitSites); {
		brand, end := r.visitSites[first].BrandID, first+1
		for end < len(r.visitSites) && r.visitSites[end].BrandID == brand {
			end++
		}
		if r.wait = r.c.limits.take(brand, r.address, end-first, r.at); r.wait > 0 {
			return errLimit
		}
		first = end
	}
	return nil
}

// appendVisits appends the visits to the log.
func (r *request) appendVisits() error {
	if len(r.values) == 0 {
		return nil
	}
	// Without the request's context: a visit that has joined a batch is counted, and its answer waits for that.
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
		r.c.log.Error("append visit", "error", err,
			"next", "see why the broker refuses the record; its beacon was answered 500 and is not counted")
	})
	return errFailed
}

// done clears the request and returns it to the pool, with its buffers unless they are large.
func (r *request) done() {
	clear(r.beacons)
	clear(r.sites)
	clear(r.visitSites)
	clear(r.values)
	empty := request{c: r.c, beacons: r.beacons[:0], sites: r.sites[:0], visitSites: r.visitSites[:0],
		ends: r.ends[:0], values: r.values[:0]}
	if cap(r.encoded) <= 4*maxBody {
		empty.encoded = r.encoded[:0]
	}
	*r = empty
	r.c.requests.Put(r)
}

// text reads bytes of a request as a string without copying them. It must not outlive the request.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
