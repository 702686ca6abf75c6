package httpd

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// direct is a path that is answered without the rest of the edge.
type direct struct {
	s      *Server
	path   string
	handle fiber.Handler
	posts  [600]atomic.Pointer[prometheus.Observer] // of POST by status, once looked up
}

// Direct gives every request for path to handle, whatever its method. It is for the one path that is requested tens of
// thousands of times a second: such a request has no id, no context that ends with its client, no span and no line in
// the log, and its response is neither tagged nor compressed. It is measured, and errors and panics are answered as on
// any other path. It is called before Run.
func (s *Server) Direct(path string, handle fiber.Handler) {
	if s.direct == nil {
		s.direct = map[string]*direct{}
	}
	s.direct[path] = &direct{s: s, path: path, handle: handle}
}

func (d *direct) serve(c *fiber.Ctx) error {
	started := time.Now()
	if err := guarded(c, d.handle); err != nil {
		if failed := d.s.refuse(c, err); failed != nil {
			return failed
		}
	}
	d.seconds(c).Observe(time.Since(started).Seconds())
	return nil
}

func (d *direct) seconds(c *fiber.Ctx) prometheus.Observer {
	status := c.Response().StatusCode()
	method := c.Method()
	if method != fiber.MethodPost || status >= len(d.posts) {
		return d.s.seconds.WithLabelValues(d.s.cfg.Name, method, d.path, strconv.Itoa(status))
	}
	if known := d.posts[status].Load(); known != nil {
		return *known
	}
	found := d.s.seconds.WithLabelValues(d.s.cfg.Name, method, d.path, strconv.Itoa(status))
	d.posts[status].Store(&found)
	return found
}
