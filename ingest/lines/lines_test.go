package lines

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestALineOverTheLimitIsNotRead(t *testing.T) {
	l := New(strings.NewReader("\ufeff{1}\r\n"+strings.Repeat("x", 200_000)+"\n\n{3}"), 100_000)
	type line struct {
		text   string
		length int
	}
	var got []line
	for {
		text, length, err := l.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line{string(text), length})
	}
	want := []line{{"{1}", 7}, {"", 200_000}, {"", 0}, {"{3}", 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if l.Number != 4 || l.Read != 200_013 {
		t.Errorf("line %d, %d bytes", l.Number, l.Read)
	}
}

// A gigabyte without a line end must not be held in memory.
func TestNoMoreThanTheLimitIsHeld(t *testing.T) {
	l := New(io.LimitReader(endless{}, 1<<30), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, length, err := l.Next()
	runtime.ReadMemStats(&after)
	if text != nil || length != 1<<30 || err != nil {
		t.Fatalf("got %d bytes, length %d, %v", len(text), length, err)
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
