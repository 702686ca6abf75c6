package intake

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestLinesReadOverWhatIsTooLong(t *testing.T) {
	l := newLines(strings.NewReader("\ufeff{1}\r\n"+strings.Repeat("x", 200_000)+"\n\n{3}"), 100_000)
	type line struct {
		text   string
		length int
	}
	var got []line
	for {
		text, length, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line{string(text), length})
	}
	want := []line{{"{1}\r", 7}, {"", 200_000}, {"", 0}, {"{3}", 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if l.number != 4 || l.read != 200_013 {
		t.Errorf("line %d, %d bytes", l.number, l.read)
	}
}

// A line of any length must not be held: a gigabyte without a line end is one mistake away.
func TestLinesHoldNoMoreThanTheLimit(t *testing.T) {
	l := newLines(io.LimitReader(endless{}, 1<<30), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, length, err := l.next()
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

func TestSeenForgetsTheOldest(t *testing.T) {
	s := newSeen(2)
	id := func(b byte) (id [16]byte) { id[0] = b; return id }
	var got []bool
	for _, b := range []byte{1, 1, 2, 3, 3, 1, 2, 1} {
		got = append(got, s.add(id(b)))
	}
	if want := []bool{true, false, true, true, false, true, true, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
