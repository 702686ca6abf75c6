package clickhouse

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// Whoever takes what is sent, however slowly, is waited for; who takes nothing is not.
func TestPatienceIsForWhoTakesSomething(t *testing.T) {
	const patience = 200 * time.Millisecond
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	conn := &patient{here, patience}
	const pieces = 6
	go func() {
		for range pieces {
			<-time.After(patience / 2)
			if _, err := io.CopyN(io.Discard, there, writtenAtOnce); err != nil {
				t.Error(err)
			}
		}
	}()
	if n, err := conn.Write(make([]byte, pieces*writtenAtOnce)); n != pieces*writtenAtOnce || err != nil {
		t.Errorf("wrote %d, %v; want %d", n, err, pieces*writtenAtOnce)
	}
	if n, err := conn.Write(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d to nobody, %v", n, err)
	}
}
