package event

import "github.com/gofrs/uuid/v5"

// Crawl is a request of an AI crawler for a page of a brand's site, read from an access log. The requester's address is
// in no field.
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
	Verified       *bool     `json:"verified,omitempty"` // whether it came from an address that the operator publishes; null: not compared
	Simulated      bool      `json:"simulated,omitempty"`
}

// Purpose is what an AI crawler fetches a page for.
type Purpose string

// The purposes of crawls.
const (
	PurposeTraining Purpose = "training" // to learn from it
	PurposeSearch   Purpose = "search"   // to index it for answers to come
	PurposeUser     Purpose = "user"     // because a person asked for it just now
)
