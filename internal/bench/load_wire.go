package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// A wire is one connection that asks and reads answers of HTTP/1.1 with as little work as can be: what sends shares
// the machine with what is measured, and net/http would take the larger part of it.
type wire struct {
	address  string
	deadline time.Time
	buffer   [4 << 10]byte // longer than every answer of a collector

	conn     net.Conn
	swapping sync.Mutex // conn, which close looks at from outside
}

func dialWire(ctx context.Context, address string) (*wire, error) {
	w := &wire{address: address}
	return w, w.again(ctx)
}

// again connects anew.
func (w *wire) again(ctx context.Context) error {
	w.close()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", w.address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", w.address, err)
	}
	w.swapping.Lock()
	w.conn = conn
	w.swapping.Unlock()
	w.bound(w.deadline)
	return nil
}

// bound says when no answer is waited for any longer.
func (w *wire) bound(at time.Time) {
	w.deadline = at
	_ = w.conn.SetDeadline(at) // fails on a closed connection, as the next write will
}

func (w *wire) close() {
	w.swapping.Lock()
	defer w.swapping.Unlock()
	if w.conn != nil {
		_ = w.conn.Close()
	}
}

// ask sends a whole request and returns the status of its answer.
func (w *wire) ask(request []byte) (status int, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, fmt.Errorf("send request: %w", err)
	}
	for n := 0; ; {
		m, err := w.conn.Read(w.buffer[n:])
		n += m
		status, size := answerOf(w.buffer[:n])
		switch {
		case size > 0 && n == size:
			return status, nil
		case size < 0 || n > size && size > 0 || size > len(w.buffer):
			return 0, fmt.Errorf("read answer: %.100q is none that was expected", w.buffer[:n])
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("read answer: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return 0, fmt.Errorf("read answer: %w", err)
		case n == len(w.buffer):
			return 0, errors.New("read answer: longer than 4 KB")
		}
	}
}

var (
	headersEnd = []byte("\r\n\r\n")
	lengthIs   = []byte("\r\nContent-Length: ") // as fasthttp and net/http write it
)

// answerOf reads an answer's status and how long it is in all: 0 when its headers are not there yet, -1 when it is
// none, or is sent in chunks.
func answerOf(text []byte) (status, size int) {
	head := bytes.Index(text, headersEnd)
	if head < 0 {
		return 0, 0
	}
	if head < len("HTTP/1.1 204") || !bytes.HasPrefix(text, []byte("HTTP/1.1 ")) {
		return 0, -1
	}
	for _, digit := range text[9:12] {
		status = status*10 + int(digit-'0')
	}
	size = head + len(headersEnd)
	at := bytes.Index(text[:head+2], lengthIs)
	if at < 0 {
		if status == 204 || status == 304 {
			return status, size
		}
		return 0, -1
	}
	length, _, _ := bytes.Cut(text[at+len(lengthIs):], []byte("\r\n"))
	n, err := strconv.Atoi(string(length))
	if err != nil || n < 0 {
		return 0, -1
	}
	return status, size + n
}
