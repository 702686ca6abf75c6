package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// conn sends one command after the other and reads its answer; events of the browser are dropped.
type conn struct {
	mu     sync.Mutex
	socket *websocket.Conn
	last   int
}

// An answer is what either protocol sends back: CDP has an object in error, BiDi a word beside a message.
type answer struct {
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
}

func dial(address string) (*conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	socket, response, err := websocket.Dial(ctx, address, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close() // a switched connection has none
	}
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(16 << 20)
	return &conn{socket: socket}, nil
}

// props are the parameters of a command.
type props map[string]any

// call sends a command and reads its result into value, or drops it where value is nil.
func (c *conn) call(session, method string, params props, value any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  props  `json:"params"`
	}{c.last, session, method, params})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, text); err != nil {
		return err
	}
	var a answer
	for a.ID != c.last {
		a = answer{}
		_, text, err := c.socket.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	if len(a.Error) > 0 {
		return fmt.Errorf("%s: %s %s", method, a.Error, a.Message)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(a.Result, value)
}

// evaluate calls a method that evaluates an expression, and returns the text that it gives.
func (c *conn) evaluate(session, method string, params props) (string, error) {
	var evaluated struct {
		Result           struct{ Value string }
		ExceptionDetails *struct {
			Text      string
			Exception json.RawMessage
		}
	}
	err := c.call(session, method, params, &evaluated)
	if thrown := evaluated.ExceptionDetails; err == nil && thrown != nil {
		err = errors.New(thrown.Text + " " + string(thrown.Exception))
	}
	return evaluated.Result.Value, err
}
