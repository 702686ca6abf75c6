package api

import (
	"fmt"
	"testing"

	"github.com/answerscope/answerscope/internal/problem"
)

// Each prompt is compared with the names of a request, which a body of a megabyte has many of.
func TestARequestNamesAThousandAtMost(t *testing.T) {
	var names []string
	for i := range 1001 {
		names = append(names, fmt.Sprint(i))
	}
	for _, body := range []startBody{{Platforms: names}, {Models: names}, {Regions: names}} {
		_, err := body.request()
		if kind, _ := problem.Of(err); kind != problem.Invalid {
			t.Errorf("1001 names: %v", err)
		}
	}
}
