package extract

import (
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Version is the version of Read. It rises with every change of this package's code, of its lists, of the
// public-suffix list or of the Unicode tables.
const Version = 4

// rules are what versions differ in. A build carries the previous release's too, so that a plan made by that release is
// replayed as it was made.
type rules struct {
	parts     []func(string) []cut       // that are no prose, each found in the text that the previous ones left
	spellings func(name string) []string // other ones of a name
	alphabet  func() *alphabet
	source    func(c *event.Citation) source
	// asRead finds names as readers do: in several spellings, with an Arabic "and", several beside each other as one,
	// and none in an ordinary word.
	asRead bool
}

var (
	current  = &rules{removedParts, Spellings, presentAlphabet, sourceOf, true}
	version3 = &rules{undecodedParts, umlautSpellings, formerAlphabet, formerSourceOf, false}
	version1 = &rules{
		undecodedParts, func(string) []string { return nil }, formerAlphabet, formerSourceOf, false,
	}
)

// versions are those that this build carries.
var versions = map[int]*rules{
	1: version1, // does not find a name whose umlaut is written as two letters
	2: version3, // of builds that refuse a surface without an answer; the reading is the same
	3: version3, // reads signs inside a name, escapes, invisible characters and addresses as they are
	4: current,
}

// readers are the versions' readers. Package metrics' tests add a reader of a release to come.
var readers = func() map[int]func(*event.Answer) Reading {
	readers := map[int]func(*event.Answer) Reading{}
	for version, rules := range versions {
		readers[version] = rules.read
	}
	return readers
}()

// At returns the reader of a version; ok is false if this build does not carry it.
func At(version int) (func(*event.Answer) Reading, bool) {
	read, ok := readers[version]
	return read, ok
}

// Reading is the result of reading one answer. For a given-up run and a surface without an answer it has only Branded:
// all counts are 0, sentiments unknown.
type Reading struct {
	Branded         bool // is_branded of the prompt; if that is unset, whether the prompt's text names the brand
	Brand           EntityReading
	Competitors     []EntityReading   // in the record's order
	Citations       []CitationReading // by first appearance, one per normalised URL
	Cards           []Card            // in the record's order
	SentimentMethod string            // the constant SentimentMethod of the version that read
}

// EntityReading is the part of a reading about the brand or one competitor.
type EntityReading struct {
	ID              uuid.UUID
	Mentions        uint32
	Position        uint32 // 1-based among all tracked entities, 0: not named
	Citations       uint32 // cited URLs under the entity's own domains
	VisibilityScore uint8  // 0..100
	Sentiment       Sentiment
}

// CitationReading is one URL of an answer: http or https, with a host.
type CitationReading struct {
	URL          string // normalised
	Title        string // the first non-empty one
	Host         string // of URL, without port: lower case, punycode, no leading www.
	Domain       string // registrable domain of Host; Host itself if it has none
	Cited        bool   // false: only consulted, in no figure
	Listed       SourceType
	Owned        bool      // Host is, or is under, one of the brand's domains
	CompetitorID uuid.UUID // owner of the closest domain that Host is, or is under, the first of equals; uuid.Nil: none
}

// SourceType is the kind of a site, regardless of whether the brand or a competitor owns it.
type SourceType string

// The source types, in the order in which they are tried. Editorial includes hosts that no list and no rule has.
const (
	Forum         SourceType = "forum"
	Social        SourceType = "social"
	Review        SourceType = "review"
	Institutional SourceType = "institutional"
	Editorial     SourceType = "editorial"
)

// Sentiment is the tone of the sentences that name an entity.
type Sentiment string

// The sentiments. Unknown: not named, or not in English.
const (
	Positive Sentiment = "positive"
	Neutral  Sentiment = "neutral"
	Negative Sentiment = "negative"
	Unknown  Sentiment = "unknown"
)

// Card is one product of a shopping answer.
type Card struct {
	Position       uint32 // as in the record, else its index in the list; 1-based
	Title          string
	Brand          string
	PriceAmount    string // decimal number as text, "": none
	PriceCurrency  string // ISO 4217, "": none
	ImageURL       string
	Merchant       string // its name, as in the record
	MerchantURL    string // as in the record
	MerchantDomain string // registrable domain of MerchantURL, "": none
	Rating         float64
	ReviewCount    int64
	MatchedID      uuid.UUID // brand or competitor that Brand or Title names, uuid.Nil: none
	Role           Role
}

// Role is the owner of a card's product.
type Role string

// The roles.
const (
	Own        Role = "own"
	Competitor Role = "competitor"
	Other      Role = "other"
)
