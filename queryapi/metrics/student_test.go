package metrics

import (
	"math"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/naive"
)

// The table of Student's t and its expansion, which begins at 30 degrees, are as exact as their comment says.
func TestQuantilesOfStudent(t *testing.T) {
	t.Parallel()
	var quantiles []float64
	err := openComplete(t).QueryRow(t.Context(),
		"SELECT groupArray(answerscope_critical_t(number + 1)) FROM numbers(2000)").Scan(&quantiles)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range quantiles {
		if want := naive.Student(i + 1); math.Abs(got-want) > 4e-8 {
			t.Errorf("of %d degrees: %.9f, want %.9f", i+1, got, want)
		}
	}
}
