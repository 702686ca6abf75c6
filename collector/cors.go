package collector

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/collector/site"
)

// Headers that more than one place names.
const (
	headerAnswerscope = "X-Answerscope"
	allowedMethods    = "POST, OPTIONS"
)

// preflight answers OPTIONS: which brand a beacon will name is not known yet, so any brand's origin may ask.
func (c *Collector) preflight(f *fiber.Ctx, origin string) error {
	response := &f.Response().Header
	if origin == "" { // nobody's preflight
		response.Set(fiber.HeaderAllow, allowedMethods)
		f.Status(http.StatusNoContent)
		return nil
	}
	if !c.known(origin) {
		if c.parts.Sites.Ready(f.Context()) != nil {
			return errUnready
		}
		return errOrigin
	}
	share(f, origin)
	response.Set(fiber.HeaderAccessControlAllowMethods, fiber.MethodPost)
	response.Set(fiber.HeaderAccessControlAllowHeaders, "content-type")
	response.Set(fiber.HeaderAccessControlMaxAge, "600")
	f.Status(http.StatusNoContent)
	return nil
}

// known reports whether origin is a domain of any brand or under one.
func (c *Collector) known(origin string) bool {
	host, ok := site.OriginHost(origin)
	return ok && c.parts.Sites.Registered(host)
}

// share lets the page read the answer. The origin is one that is somebody's, never what anybody sent.
func share(f *fiber.Ctx, origin string) {
	f.Response().Header.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	f.Response().Header.Set(fiber.HeaderAccessControlExposeHeaders, headerAnswerscope)
}
