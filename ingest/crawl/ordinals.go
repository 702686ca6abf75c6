package crawl

import (
	"crypto/sha256"
)

// ordinals tell equal lines of a file apart. Equal lines are of the same instant, and so
// near each other: of a file of more distinct lines than are remembered, a line that comes
// again after all those counts as the one that it equals.
type ordinals struct {
	told   map[[16]byte]int
	before map[[16]byte]int // of the lines before those of told
	most   int
}

func newOrdinals(most int) *ordinals { return &ordinals{told: map[[16]byte]int{}, most: most} }

// next is how many lines of a site equal this one before it.
func (o *ordinals) next(site string, line []byte) int {
	h := sha256.New()
	h.Write([]byte(site))
	h.Write([]byte{0})
	h.Write(line)
	key := [16]byte(h.Sum(nil))
	n, known := o.told[key]
	if !known {
		n = o.before[key]
		if len(o.told) >= o.most {
			o.before, o.told = o.told, map[[16]byte]int{}
		}
	}
	o.told[key] = n + 1
	return n
}
