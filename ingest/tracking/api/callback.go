package api

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
)

const (
	callbackPrefix = "/callbacks"
	noticeLimit    = 64 << 10
	captureLimit   = 4 << 20 // a larger one is refused, and found by polling
)

// MountCallbacks adds the routes that capture providers call. Cloro's callbacks have the whole capture in them.
func (s *Server) MountCallbacks(server *httpd.Server, callbacks *tracking.Callbacks) {
	look := func(c *fiber.Ctx) error {
		run, err := callbacks.Check(c.Params("provider"), c.Params("token"), c.Get("X-Cloro-Timestamp"),
			c.Get("X-Cloro-Signature"), c.Body(), s.now())
		if err != nil {
			return err
		}
		s.jobs.Look(run)
		return c.SendStatus(http.StatusOK)
	}
	notice := httpd.Surface{Prefix: callbackPrefix, BodyLimit: noticeLimit, Secret: true, Error: s.errorBody}
	capture := notice
	capture.Prefix, capture.BodyLimit = callbackPrefix+"/cloro", captureLimit
	server.Mount(capture)
	routes := server.Mount(notice)
	routes.Post("/:provider/:token", look)
	routes.Get("/:provider/:token", look)
}
