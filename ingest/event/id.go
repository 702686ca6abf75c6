package event

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Identity distinguishes one run from every other. Due is the run's due time, of an import its answered_at. PromptText,
// and not the prompt's id, is part of it: a file that is imported into a rebuilt organization must give the same
// answers.
type Identity struct {
	BrandID    uuid.UUID
	PromptText string
	Platform   string
	Model      string
	Region     string
	Sample     int64
	Due        time.Time
}

// RunID returns a UUID in the layout of version 7 (RFC 9562 §5.7): 48 bits of Due in Unix milliseconds, then bits of
// SHA-256 of the identity in place of randomness. A run that is appended twice therefore has one id.
func RunID(i Identity) uuid.UUID {
	var parts []byte
	for _, part := range []string{string(i.BrandID[:]), i.PromptText, i.Platform, i.Model, i.Region} {
		parts = appendPart(parts, part)
	}
	parts = binary.BigEndian.AppendUint64(parts, uint64(i.Sample))
	parts = binary.BigEndian.AppendUint64(parts, uint64(i.Due.UnixMilli()))
	return timedID(i.Due, parts)
}

// CrawlID returns a UUID in the layout of version 7 with the time of the request, and SHA-256 of the site, the line of
// its log and the line's ordinal among equal lines of the file, from 0. Reading a log again therefore makes the same
// ids, and equal lines are as many crawls.
func CrawlID(site string, line []byte, ordinal int, at time.Time) uuid.UUID {
	parts := appendPart(appendPart(nil, site), string(line))
	return timedID(at, binary.BigEndian.AppendUint64(parts, uint64(ordinal)))
}

// appendPart puts a part's length before it: ("a", "bc") is not ("ab", "c").
func appendPart(parts []byte, part string) []byte {
	return append(binary.BigEndian.AppendUint64(parts, uint64(len(part))), part...)
}

func timedID(at time.Time, parts []byte) (id uuid.UUID) {
	hash := sha256.Sum256(parts)
	copy(id[6:], hash[:])
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id.SetVersion(uuid.V7)
	id.SetVariant(uuid.VariantRFC9562)
	return id
}

// IDTime returns the instant in the first 48 bits of an id.
func IDTime(id uuid.UUID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16)).UTC()
}
