package api

import (
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
)

const (
	callbackPrefix = "/callbacks"
	noticeLimit    = 64 << 10 // bytes of a callback
	captureLimit   = 32 << 20 // of one with a capture, whose token is right
)

// MountCallbacks adds the routes that capture providers call.
func (s *Server) MountCallbacks(server *httpd.Server, callbacks *tracking.Callbacks) {
	look := func(c *fiber.Ctx) error {
		run, err := callbacks.Check(c.Params("provider"), c.Params("token"), c.Get("X-Cloro-Timestamp"),
			c.Get("X-Cloro-Signature"), c.BodyRaw(), s.now())
		if err != nil {
			return err
		}
		s.jobs.PollSoon(run)
		return c.SendStatus(http.StatusOK)
	}
	limit := func(path string) int {
		token, isSigning := strings.CutPrefix(path, callbackPrefix+"/"+tracking.Signing+"/")
		if _, ok := callbacks.Run(tracking.Signing, token); isSigning && ok {
			return captureLimit
		}
		return noticeLimit
	}
	routes := server.Mount(httpd.Surface{
		Prefix: callbackPrefix, BodyLimit: noticeLimit, LimitOf: limit, Secret: true, Error: s.errorBody})
	routes.Post("/:provider/:token", look)
	routes.Get("/:provider/:token", look)
}
