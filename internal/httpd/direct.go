package httpd

import (
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// direct is a path that passes the edge by.
type direct struct {
	s      *Server
	path   string
	handle fiber.Handler
	posts  [600]atomic.Pointer[prometheus.Observer] // of answers to POST by status, once they were looked up
}

// Direct gives every request for path to handle, whatever its method, ahead of the edge. It is for the one path that is
// asked tens of thousands of times a second: such a request has no id, no context that ends with its client, no span
// and no line in the log, and its answer is neither tagged nor compressed. It is measured, and an error or a panic ends
// as on any other path. It is called before Run.
func (s *Server) Direct(path string, handle fiber.Handler) {
	if s.direct == nil {
		s.direct = map[string]*direct{}
	}
	s.direct[path] = &direct{s: s, path: path, handle: handle}
}

func (d *direct) serve(c *fiber.Ctx) error {
	started := time.Now()
	if err := d.guarded(c); err != nil {
		if failed := d.s.refuse(c, err); failed != nil {
			return failed
		}
	}
	d.seconds(c).Observe(time.Since(started).Seconds())
	return nil
}

func (d *direct) guarded(c *fiber.Ctx) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicked{cause: cause, stack: debug.Stack()}
		}
	}()
	return d.handle(c)
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
