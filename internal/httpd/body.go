package httpd

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/internal/problem"
)

const (
	// smallBody is how many bytes of a body are read of a client that sends no credential, and of every body outside
	// the budget.
	smallBody = 64 << 10
	// bodiesInMemory is the budget of a listener: bytes of bodies in memory, beyond smallBody of each. The largest body
	// that a surface takes has a quarter.
	bodiesInMemory = 128 << 20
	// firstRead is the memory of a body before its first byte arrives, in bytes. Most bodies are shorter.
	firstRead = 4 << 10
)

var (
	errFraming = problem.New(problem.Invalid,
		"the end of the body is stated in two ways: want one Content-Length, or Transfer-Encoding: chunked")
	errNobody = problem.New(problem.Unauthenticated,
		"a body of over %d bytes is only read with a credential: sign in first", smallBody)
	errBusy = problem.New(problem.Unavailable,
		"this service holds as many long bodies as its memory allows; ask again in a moment")
)

// credentials are the headers of which one comes with each request that is not a stranger's.
var credentials = []string{fiber.HeaderAuthorization, "Apikey", fiber.HeaderCookie}

// beforeBody keeps fasthttp from reading a body that withBody refuses by its headers. A client that waits for 100
// Continue is not asked for it.
func (s *Server) beforeBody(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	limit, err := s.checkHeaders(header)
	if err != nil {
		header.SetContentLength(0)
		header.SetConnectionClose()
		header.Del(fiber.HeaderExpect)
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: limit}
}

// withBody gives next a request with its whole body, in memory that has grown with what arrived.
func (s *Server) withBody(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		limit, err := s.checkHeaders(&ctx.Request.Header)
		if err == nil && ctx.Request.IsBodyStream() {
			body := growingBody{server: s, limit: limit}
			defer body.release()
			if err = body.read(ctx.Request.BodyStream(), ctx.Request.Header.ContentLength()); err == nil {
				ctx.Request.SetBodyRaw(body.bytes)
			}
		}
		if err == nil {
			next(ctx)
			return
		}
		ctx.SetConnectionClose() // the rest of the body is no request
		lingerOn(ctx.Conn())
		c := s.App.AcquireCtx(ctx)
		defer s.App.ReleaseCtx(c)
		_ = s.refuse(c, err) // it has no encoding that fails
	}
}

// checkHeaders returns the limit of a request's body, or why it is refused by its headers.
func (s *Server) checkHeaders(header *fasthttp.RequestHeader) (limit int, err error) {
	length, valid := bodyLength(header.RawHeaders())
	if !valid {
		return 0, errFraming
	}
	limit, isAnybodys := s.bodyLimit(header)
	if length > int64(limit) {
		return 0, fiber.ErrRequestEntityTooLarge
	}
	isStranger := func() bool {
		sent := func(name string) bool { return len(header.Peek(name)) > 0 }
		return !isAnybodys && !slices.ContainsFunc(credentials, sent)
	}
	if limit > smallBody && (length > smallBody || length < 0) && isStranger() {
		if length > smallBody {
			return 0, errNobody
		}
		limit = smallBody
	}
	return limit, nil
}

// bodyLimit returns the limit of the surface that a request is for, or of the listener. It is anybody's if LimitOf
// decided it, or strangers may write there.
func (s *Server) bodyLimit(header *fasthttp.RequestHeader) (limit int, isAnybodys bool) {
	if !slices.ContainsFunc(s.surfaces, func(surface Surface) bool { return surface.BodyLimit > 0 }) {
		return s.cfg.BodyLimit, false
	}
	uri := fasthttp.AcquireURI()
	defer fasthttp.ReleaseURI(uri)
	if err := uri.Parse(nil, header.RequestURI()); err != nil {
		return s.cfg.BodyLimit, false
	}
	path := string(uri.Path())
	surface := s.surfaceOf(path)
	if surface.LimitOf != nil {
		return surface.LimitOf(path), true
	}
	return cmp.Or(surface.BodyLimit, s.cfg.BodyLimit), surface.Strangers
}

// A growingBody is read in pieces, each of which doubles its memory.
type growingBody struct {
	server *Server
	limit  int
	bytes  []byte
	taken  int64 // of the server's budget
}

// read reads a body to its end. length is the Content-Length, or -1.
func (b *growingBody) read(stream io.Reader, length int) error {
	end := b.limit + 1 // one more byte shows that there are too many
	if length >= 0 {
		end = length
	}
	b.bytes = make([]byte, 0, min(end, firstRead))
	for {
		n, err := stream.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > b.limit:
			return fiber.ErrRequestEntityTooLarge
		case errors.Is(err, io.EOF) && len(b.bytes) < length:
			return fiber.NewError(fiber.StatusBadRequest, "the body ends before its Content-Length")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return readError(err)
		}
		if len(b.bytes) == cap(b.bytes) && len(b.bytes) < end {
			if err := b.grow(min(end, 2*cap(b.bytes))); err != nil {
				return err
			}
		}
	}
}

func (b *growingBody) grow(size int) error {
	more := max(0, int64(size-smallBody)) - b.taken
	if more > 0 && !b.server.bodies.TryAcquire(more) {
		return errBusy
	}
	b.taken += max(0, more)
	b.bytes = append(make([]byte, 0, size), b.bytes...)
	return nil
}

func (b *growingBody) release() { b.server.bodies.Release(b.taken) }

// readError gives a client whose body does not arrive the status of one whose headers do not.
func readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fiber.ErrRequestTimeout
	}
	if _, gone := errors.AsType[net.Error](err); gone {
		return fiber.ErrBadGateway
	}
	return fiber.NewError(fiber.StatusBadRequest, err.Error())
}

// bodyLength reads the length of a body from the headers of a request: 0 without one, -1 for chunks. It is valid if
// they state its end once (RFC 9112 §6.3). fasthttp takes the last of several lengths, and any transfer coding for
// chunked; a proxy before it may take another, and one of them then reads the rest of a body as the next request.
func bodyLength(headers []byte) (length int64, valid bool) {
	var stated []byte
	chunked := false
	for line := range bytes.Lines(headers) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if stated != nil && !bytes.Equal(stated, value) {
				return 0, false
			}
			stated = value
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			if chunked || !bytes.EqualFold(value, []byte("chunked")) {
				return 0, false
			}
			chunked = true
		}
	}
	switch {
	case chunked:
		return -1, stated == nil
	case stated == nil:
		return 0, true
	}
	length, err := strconv.ParseInt(string(stated), 10, 64)
	return length, err == nil && length >= 0
}
