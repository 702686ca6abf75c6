package event

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Identity is what makes two tellings the same run. For an import, Due is the
// answer's answered_at; else the run's due time. PromptText, and not the
// prompt's id, is part of it: the same file imported into a rebuilt
// organization must be the same answers.
type Identity struct {
	BrandID    uuid.UUID
	PromptText string
	Platform   string
	Model      string
	Region     string
	Sample     int64
	Due        time.Time
}

// RunID is a UUID in the layout of version 7 (RFC 9562 §5.7): 48 bits of Due in
// Unix milliseconds, then bits of SHA-256 of the identity in place of randomness.
// Telling the same run twice therefore makes the same id.
func RunID(i Identity) uuid.UUID {
	h := sha256.New()
	var n [8]byte
	// Every part is preceded by its length: ("a", "bc") is not ("ab", "c").
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(i.BrandID[:])
	part([]byte(i.PromptText))
	part([]byte(i.Platform))
	part([]byte(i.Model))
	part([]byte(i.Region))
	binary.BigEndian.PutUint64(n[:], uint64(i.Sample))
	h.Write(n[:])
	binary.BigEndian.PutUint64(n[:], uint64(i.Due.UnixMilli()))
	h.Write(n[:])
	return timed(i.Due, h.Sum(nil))
}

// timed is the id of a time and a hash.
func timed(at time.Time, hash []byte) (id uuid.UUID) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(at.UnixMilli()))
	copy(id[6:], hash)
	id[0], id[1], id[2], id[3], id[4], id[5] = n[2], n[3], n[4], n[5], n[6], n[7]
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

// IDTime is the instant in the first 48 bits of an id.
func IDTime(id uuid.UUID) time.Time {
	ms := uint64(id[0])<<40 | uint64(id[1])<<32 | uint64(id[2])<<24 | uint64(id[3])<<16 | uint64(id[4])<<8 | uint64(id[5])
	return time.UnixMilli(int64(ms)).UTC()
}
