package imports

import (
	"reflect"
	"testing"
)

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
