package imports

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestLongLinesAreRefusedAndBlankOnesSkipped(t *testing.T) {
	var got []string
	l := newLineReader(strings.NewReader("\ufeff{1}\r\n"+strings.Repeat("x", 200_000)+"\n \r\n\n{5}"), 100_000,
		func(line int, why error) {
			got = append(got, fmt.Sprintf("%d: %v", line, why))
		})
	for {
		text, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", l.number, text))
	}
	if want := []string{"1 {1}", "2: line of 200000 bytes: want at most 100000", "5 {5}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if l.number != 5 || l.bytes != 200_016 {
		t.Errorf("line %d, %d bytes", l.number, l.bytes)
	}
}

// A gigabyte without a line end must not be held in memory.
func TestLongLineTakesLittleMemory(t *testing.T) {
	var refused error
	l := newLineReader(io.LimitReader(endless{}, 1<<30), 1<<20, func(_ int, why error) { refused = why })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := l.next()
	runtime.ReadMemStats(&after)
	if text != nil || !errors.Is(err, io.EOF) || refused == nil || !strings.Contains(refused.Error(), "1073741824") {
		t.Fatalf("got %d bytes, %v, refused %v", len(text), err, refused)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
