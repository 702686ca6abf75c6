package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// conn sends commands and matches their answers; events of the browser are dropped.
type conn struct {
	socket *websocket.Conn

	mu      sync.Mutex
	last    int
	waiting map[int]chan answer
	broken  error
}

// An answer is what either protocol sends back: CDP has an object in error, BiDi a word beside a message.
type answer struct {
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
}

func dial(ctx context.Context, address string) (*conn, error) {
	socket, response, err := websocket.Dial(ctx, address, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close() // a switched connection has none
	}
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(16 << 20)
	c := &conn{socket: socket, waiting: map[int]chan answer{}}
	go c.read(context.WithoutCancel(ctx)) // until close
	return c, nil
}

func (c *conn) close() { _ = c.socket.CloseNow() } // the browser is killed next

func (c *conn) read(ctx context.Context) {
	for {
		_, text, err := c.socket.Read(ctx)
		var a answer
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		c.mu.Lock()
		if err != nil {
			c.broken = err
			for _, waits := range c.waiting {
				close(waits)
			}
			c.waiting = nil
			c.mu.Unlock()
			return
		}
		if waits, ok := c.waiting[a.ID]; ok {
			delete(c.waiting, a.ID)
			waits <- a
		}
		c.mu.Unlock()
	}
}

// call sends a command and reads its result into value, or drops it where value is nil.
func (c *conn) call(session, method string, params, value any) error {
	c.mu.Lock()
	if c.broken != nil {
		defer c.mu.Unlock()
		return c.broken
	}
	c.last++
	id, waits := c.last, make(chan answer, 1)
	c.waiting[id] = waits
	c.mu.Unlock()
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{id, session, method, params})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, text); err != nil {
		return err
	}
	select {
	case a, ok := <-waits:
		switch {
		case !ok:
			return errors.New("the browser ended")
		case len(a.Error) > 0:
			return fmt.Errorf("%s: %s %s", method, a.Error, a.Message)
		case value == nil:
			return nil
		}
		return json.Unmarshal(a.Result, value)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}
