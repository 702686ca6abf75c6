package collector

import (
	"net"
	"net/netip"
	"strings"
	"time"
	"unsafe"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
)

// request is what is known of the one under way. It is used again for another: what it holds of this one, such as the
// visitor's address, is forgotten when it is done.
type request struct {
	c *Collector

	at      time.Time
	agent   string // User-Agent; the bytes are the request's
	address netip.Addr
	nation  string        // what a trusted proxy says of the visitor's country
	wait    time.Duration // until the site's limit lets this pass

	beacons []beacon
	sites   []*site.Site // of each beacon
	encoded []byte       // the visits, one after the other
	ends    []int        // where each ends in encoded
	values  [][]byte     // the same, apart
	visit   event.Visit  // the one that is encoded
}

func (r *request) begin(f *fiber.Ctx, now time.Time) {
	r.at = now
	r.agent = text(f.Request().Header.Peek(fiber.HeaderUserAgent))
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

// read decodes the body, if it may be one.
func (r *request) read(f *fiber.Ctx) error {
	header := &f.Request().Header
	if len(header.Peek(fiber.HeaderContentEncoding)) > 0 {
		return errEncoded
	}
	if !contentType(text(header.ContentType())) {
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

// admit sees that every beacon comes from its brand's site, and that the sites are within their limits.
func (r *request) admit(f *fiber.Ctx) error {
	origin, err := r.origin(f)
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
		share(f, origin)
	}
	return r.limit()
}

// limit counts the beacons of each site at once. Of an array of several sites the first ones may have been counted when
// a later one is over: that costs them room, never a visit.
func (r *request) limit() error {
	for first := 0; first < len(r.sites); {
		end := first + 1
		for end < len(r.sites) && r.sites[end].BrandID == r.sites[first].BrandID {
			end++
		}
		if r.wait = r.c.limits.take(r.sites[first].BrandID, end-first, r.at); r.wait > 0 {
			return errLimit
		}
		first = end
	}
	return nil
}

// origin is the Origin header; "" is a missing one. Two of them are a list, which no origin is.
func (r *request) origin(f *fiber.Ctx) (string, error) {
	all := f.Request().Header.PeekAll(fiber.HeaderOrigin)
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return text(all[0]), nil
	}
	return "", errOrigin
}

// visits encodes what is to be appended, and says how many beacons are dropped, and why.
func (r *request) visits(f *fiber.Ctx) (reason string, dropped int, err error) {
	if reason := r.unwanted(f); reason != "" {
		return reason, len(r.beacons), nil
	}
	located := false
	for i := range r.beacons {
		b := &r.beacons[i]
		platform, by := platformOf(b)
		if platform == "" {
			dropped++
			continue
		}
		if !located {
			r.locate(f)
			located = true
		}
		r.visitOf(&r.visit, b, r.sites[i], platform, by)
		if r.encoded, err = event.EncodeVisit(r.encoded, &r.visit); err != nil {
			return "", 0, malformed("want texts that can be kept")
		}
		r.ends = append(r.ends, len(r.encoded))
	}
	begin := 0
	for _, end := range r.ends {
		r.values = append(r.values, r.encoded[begin:end])
		begin = end
	}
	return dropNoSource, dropped, nil
}

// unwanted is why nothing of the request is kept, "" if it is.
func (r *request) unwanted(f *fiber.Ctx) string {
	agent := r.c.parts.Agents.Look(r.agent)
	switch {
	case agent.Crawler != nil:
		r.c.metrics.crawlers.WithLabelValues(agent.Crawler.Name).Add(float64(len(r.beacons)))
		return dropCrawler
	case agent.Bot:
		return dropBot
	case string(f.Request().Header.Peek("Sec-Gpc")) == "1":
		return dropPrivacy
	}
	return ""
}

// locate finds out whose request it is. Headers of proxies count where the proxy is trusted.
func (r *request) locate(f *fiber.Ctx) {
	remote := remoteOf(f.Context().RemoteAddr())
	var forwarded string
	if all := f.Request().Header.PeekAll(fiber.HeaderXForwardedFor); len(all) == 1 {
		forwarded = text(all[0])
	} else if len(all) > 1 {
		lines := make([]string, len(all))
		for i, line := range all {
			lines[i] = string(line)
		}
		forwarded = strings.Join(lines, ",")
	}
	visitors := r.c.parts.Visitors
	r.address = visitors.Address(remote, forwarded)
	if r.c.cfg.CountryHeader != "" && visitors.Trusts(remote) {
		r.nation = string(f.Request().Header.Peek(r.c.cfg.CountryHeader))
	}
}

func (r *request) country(timeZone string) (country, by string) {
	return r.c.parts.Visitors.Country(r.address, r.nation, timeZone)
}

func (r *request) visitor(brand uuid.UUID) uint64 {
	return r.c.parts.Visitors.Hash(brand, r.address, r.agent, r.at)
}

func remoteOf(address net.Addr) netip.Addr {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// text reads bytes of a request as a string without copying them. It must not outlive the request.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
