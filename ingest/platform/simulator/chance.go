package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// chance returns a source of chance that is made of seed and parts alone: the
// same for the same, independent for any others.
func chance(seed uint64, parts ...string) *rand.Rand {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], seed)
	h.Write(n[:])
	for _, part := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// pick returns one of items.
func pick[T any](c *rand.Rand, items []T) T { return items[c.IntN(len(items))] }
