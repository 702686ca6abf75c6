package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gofrs/uuid/v5"
)

// Crawl is a request of an AI crawler for a page of a brand's site, read from
// an access log. The requester's address is in no field.
type Crawl struct {
	V              int       `json:"v"`
	ID             uuid.UUID `json:"id"`
	OrganizationID uuid.UUID `json:"organization_id"`
	BrandID        uuid.UUID `json:"brand_id"`
	At             Time      `json:"at"`
	Crawler        string    `json:"crawler"`            // name of the crawler: "GPTBot"
	Operator       string    `json:"operator,omitempty"` // who runs it: "OpenAI"
	Platform       string    `json:"platform,omitempty"` // slug of the AI platform that it crawls for
	Purpose        Purpose   `json:"purpose"`
	Host           string    `json:"host"`
	Path           string    `json:"path"`
	Status         int       `json:"status"`             // of the response, as HTTP has it
	Bytes          int64     `json:"bytes"`              // of the response's body
	Verified       *bool     `json:"verified,omitempty"` // whether it came from an address that the operator publishes; null: nobody looked
	Simulated      bool      `json:"simulated,omitempty"`
}

// Purpose is what an AI crawler fetches a page for.
type Purpose string

// The purposes of crawls.
const (
	PurposeTraining Purpose = "training" // to learn from it
	PurposeSearch   Purpose = "search"   // to index it for answers to come
	PurposeUser     Purpose = "user"     // because somebody asked for it just now
)

// CrawlID is a UUID in the layout of version 7 whose time is that of the request,
// and whose other bits come from SHA-256 of the site, the line of its log and the
// line's ordinal among equal lines of the file, from 0. Reading a log again
// therefore makes the same ids, and equal lines are as many crawls.
func CrawlID(site string, line []byte, ordinal int, at time.Time) uuid.UUID {
	h := sha256.New()
	var n [8]byte
	for _, part := range [][]byte{[]byte(site), line} {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	binary.BigEndian.PutUint64(n[:], uint64(ordinal))
	h.Write(n[:])
	return timed(at, h.Sum(nil))
}

// DecodeCrawl reads a crawl's record; b may be used again afterwards, and errors are
// those of DecodeAnswer.
func DecodeCrawl(b []byte, c *Crawl) error {
	*c = Crawl{}
	if err := decoded(b, json.Unmarshal(bytes.Clone(b), c), c.V); err != nil {
		return err
	}
	var p problems
	c.law(&p)
	return p.err()
}

// EncodeCrawl appends the record of c to dst, as EncodeAnswer.
func EncodeCrawl(dst []byte, c *Crawl) ([]byte, error) {
	if c.V != Version {
		copied := *c
		copied.V, c = Version, &copied
	}
	return encoded(dst, c)
}
