// Package logbuffer keeps what a tested process logs. It imports no package of this module, so that tests inside any
// package can use it.
package logbuffer

import (
	"bytes"
	"sync"
)

// A Buffer is a log that is read while it is written. Its zero value is empty.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
