package catalog

import "testing"

func TestByteOffsetOfCharacters(t *testing.T) {
	for characters, want := range map[int64]int{-1: -1, 0: 0, 1: 1, 2: 3, 3: 7, 4: 8, 5: -1} {
		if got := byteOffset("aü🏕b", characters); got != want {
			t.Errorf("character %d is byte %d, want %d", characters, got, want)
		}
	}
}
