package bench

import (
	"math"
	"math/bits"
	"time"
)

// A histogram counts times: each in a class that is a 32nd of a power of two of microseconds wide, which is 3 % of it
// at most. It is used as it is, without being made.
type histogram struct {
	Counts []int64 `json:"counts"` // by class, up to the last that has any
}

// fine is the binary logarithm of how many classes a power of two has.
const fine = 5

// class is where a time is counted: those below 64 µs have each their own.
func class(took time.Duration) int {
	us := uint64(max(took, 0) / time.Microsecond)
	if us < 2<<fine {
		return int(us)
	}
	power := bits.Len64(us) - 1 - fine
	return power<<fine + int(us>>power)
}

// upper is the longest time of a class.
func upper(class int) time.Duration {
	if class < 2<<fine {
		return time.Duration(class) * time.Microsecond
	}
	power := class>>fine - 1
	return time.Duration(uint64(class&(1<<fine-1)|1<<fine)+1)<<power*time.Microsecond - time.Microsecond
}

func (h *histogram) add(took time.Duration) {
	at := class(took)
	for at >= len(h.Counts) {
		h.Counts = append(h.Counts, 0)
	}
	h.Counts[at]++
}

func (h *histogram) merge(other *histogram) {
	for len(h.Counts) < len(other.Counts) {
		h.Counts = append(h.Counts, 0)
	}
	for at, n := range other.Counts {
		h.Counts[at] += n
	}
}

// percentile is a time in milliseconds that p of 100 do not pass; 0 of none.
func (h *histogram) percentile(p float64) float64 {
	var all int64
	for _, n := range h.Counts {
		all += n
	}
	rank := int64(math.Ceil(p / 100 * float64(all)))
	for at, n := range h.Counts {
		if rank -= n; rank <= 0 && n > 0 {
			return upper(at).Seconds() * 1000
		}
	}
	return 0
}
