package crawl

import (
	"crypto/sha256"
)

// ordinals number equal lines of a file. Equal lines are of the same instant, and so near each other: a line that comes
// again after more distinct lines than are remembered counts as the earlier one.
type ordinals struct {
	recent map[[16]byte]int
	older  map[[16]byte]int // of the lines before the recent ones
	most   int
}

func newOrdinals(most int) *ordinals { return &ordinals{recent: map[[16]byte]int{}, most: most} }

// next is how many lines of a site equal this one before it.
func (o *ordinals) next(site string, line []byte) int {
	h := sha256.New()
	h.Write([]byte(site))
	h.Write([]byte{0})
	h.Write(line)
	key := [16]byte(h.Sum(nil))
	n, known := o.recent[key]
	if !known {
		n = o.older[key]
		if len(o.recent) >= o.most {
			o.older, o.recent = o.recent, map[[16]byte]int{}
		}
	}
	o.recent[key] = n + 1
	return n
}
