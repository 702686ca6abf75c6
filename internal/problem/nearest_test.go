package problem

import (
	"math"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	candidates := []string{"brand_id", "platform", "model", "modes"}
	for _, c := range []struct {
		name string
		most int
		want []string
	}{
		{"brand_id", math.MaxInt, []string{"brand_id"}},
		{"platforms", 3, []string{"platform"}},
		{"mode", 3, []string{"model", "modes"}},
		{"mode", 0, nil},
		{"x", 3, nil},
	} {
		if got := Nearest(c.name, candidates, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s within %d edits: %q, want %q", c.name, c.most, got, c.want)
		}
	}
}

func TestSimilar(t *testing.T) {
	for _, c := range []struct {
		name  string
		least float64
		want  string
	}{
		{"Author", 0.75, "authors"}, {"auhtors", 0.75, ""}, {"auhtors", 0.5, "authors"}, {"aut", 0.5, ""},
		{"", 0.1, ""}, {"book", 0.5, "books"}, {"boots", 0.5, "books"},
	} {
		if got := Similar(c.name, []string{"books", "authors", "boats"}, c.least); c.name != "boots" && got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Similar("boots", []string{"books", "boats"}, 0.5); got != "boats" {
		t.Errorf("of two that are alike the first by name: %q", got)
	}
}
