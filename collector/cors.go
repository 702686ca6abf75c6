package collector

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/collector/site"
)

// Headers that more than one function names.
const (
	headerAnswerscope = "X-Answerscope"
	allowedMethods    = "POST, OPTIONS"
)

// preflight answers OPTIONS: which brand a beacon will name is not known yet, so any brand's origin may ask.
func (r *request) preflight(f *fiber.Ctx) error {
	origin, err := originOf(f)
	if err != nil {
		return err
	}
	response := &f.Response().Header
	if origin == "" { // no browser's preflight
		response.Set(fiber.HeaderAllow, allowedMethods)
		f.Status(http.StatusNoContent)
		return nil
	}
	if !r.c.registered(origin) {
		if r.c.parts.Sites.Ready(f.Context()) != nil {
			return errUnready
		}
		return errOrigin
	}
	allowOrigin(f, origin)
	response.Set(fiber.HeaderAccessControlAllowMethods, fiber.MethodPost)
	response.Set(fiber.HeaderAccessControlAllowHeaders, "content-type")
	response.Set(fiber.HeaderAccessControlMaxAge, "600")
	f.Status(http.StatusNoContent)
	return nil
}

// originOf is the Origin header; "" is a missing one. Two of them are a list, which no origin is.
func originOf(f *fiber.Ctx) (string, error) {
	all := f.Request().Header.PeekAll(fiber.HeaderOrigin)
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return text(all[0]), nil
	}
	return "", errOrigin
}

// registered reports whether origin is a domain of any brand or under one.
func (c *Collector) registered(origin string) bool {
	host, ok := site.OriginHost(origin)
	return ok && c.parts.Sites.Registered(host)
}

// allowOrigin is CORS: it lets the page read the answer. The origin is known to be a brand's.
func allowOrigin(f *fiber.Ctx, origin string) {
	f.Response().Header.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	f.Response().Header.Set(fiber.HeaderAccessControlExposeHeaders, headerAnswerscope)
}
