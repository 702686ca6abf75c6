package collector

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/collector/referral"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/useragent"
)

// The reasons why a beacon is dropped, in X-Answerscope and the metrics.
const (
	dropBot      = "bot"             // a program, by its User-Agent
	dropCrawler  = "ai_crawler"      // a crawler of an AI platform; counted by name
	dropPrivacy  = "gpc"             // the browser asks not to be tracked (Global Privacy Control)
	dropNoSource = "not_ai_referred" // no AI platform sent the visit
)

// unwanted returns why the whole request is dropped, "" if it is not.
func (r *request) unwanted(f *fiber.Ctx) string {
	agent := useragent.Look(r.agent)
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

// platformOf returns the AI platform that a beacon's visit came from, and the evidence; both are "" without any. The
// page's own guess counts only after the first view of a session, since that view has an address and a referrer.
func platformOf(b *beacon) (platform, by string) {
	if !bool(b.New) && referral.Known(b.Platform) {
		return b.Platform, referral.BySession
	}
	if slug := referral.OfApp(b.app); slug != "" {
		return slug, referral.ByReferrer
	}
	return referral.Detect(b.page.query, b.referrer.host, b.referrer.path, b.referrer.query)
}

// fill makes v the visit of a beacon.
func (r *request) fill(v *event.Visit, b *beacon, s *site.Site, platform, by string) {
	*v = event.Visit{
		V:              event.Version,
		ID:             newID(r.at),
		OrganizationID: s.OrganizationID,
		BrandID:        s.BrandID,
		At:             event.At(r.at),
		Event:          event.VisitView,
		Platform:       platform,
		PlatformBy:     by,
		Host:           b.page.host,
		Path:           b.page.path,
		ReferrerHost:   cmp.Or(b.referrer.host, b.app),
		Language:       printable(b.Language),
		Screen:         printable(b.Screen),
		TimeZone:       printable(b.TimeZone),
		Session:        b.Session,
		NewSession:     bool(b.New) && b.Goal == nil,
	}
	v.Country, v.CountryBy = r.c.parts.Visitors.Country(r.address, r.cdnCountry, v.TimeZone)
	v.Visitor = r.c.parts.Visitors.Hash(s.BrandID, r.address, r.agent, r.at)
	if b.Goal != nil {
		v.Event = event.VisitGoal
		v.Goal = &event.Goal{Name: b.Goal.Name, Value: string(b.Goal.Value), Currency: b.Goal.Currency}
	}
}

// locate finds the visitor's address, and the country that a CDN names. Headers of proxies count where the proxy is
// trusted.
func (r *request) locate(f *fiber.Ctx) {
	proxies := r.c.cfg.TrustedProxies
	r.address = proxies.Client(f)
	if r.c.cfg.CountryHeader != "" && proxies.Trust(httpd.Peer(f)) {
		r.cdnCountry = string(f.Request().Header.Peek(r.c.cfg.CountryHeader))
	}
}

// newID makes a UUID of version 7 (RFC 9562 §5.7): 48 bits of at in Unix milliseconds, then 74 random ones. uuid.NewV7
// would take a lock that all cores share, for an order within a millisecond that is not needed.
func newID(at time.Time) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16|rand.Uint64()&0xffff)
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	id.SetVersion(uuid.V7)
	id.SetVariant(uuid.VariantRFC9562)
	return id
}
