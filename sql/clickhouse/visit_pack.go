package clickhouse

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// A PackedVisit is a VisitRow that waits to be inserted, in half of its room and with
// one pointer in place of twenty: of a backlog hundreds of thousands wait, and the
// garbage collector follows each pointer.
type PackedVisit struct {
	OrganizationID UUID
	BrandID        UUID
	ID             UUID

	logPartition int32
	logOffset    int64
	at           int64 // Unix milliseconds
	visitor      uint64
	goalValue    int64 // millionths
	valued       bool  // there is a goalValue
	newSession   bool
	simulated    bool

	texts string // one behind the other
	ends  [visitTexts]uint32
}

// The texts of a visit.
const (
	textTopic = iota
	textEvent
	textPlatform
	textPlatformBy
	textHost
	textPath
	textReferrerHost
	textCountry
	textCountryBy
	textLanguage
	textScreen
	textTimeZone
	textSession
	textGoalName
	textGoalCurrency
	visitTexts
)

// texts are the row's.
func (r *VisitRow) texts() [visitTexts]string {
	return [visitTexts]string{
		textTopic: r.LogTopic, textEvent: r.Event, textPlatform: r.Platform, textPlatformBy: r.PlatformBy, textHost: r.Host, textPath: r.Path,
		textReferrerHost: r.ReferrerHost, textCountry: r.Country, textCountryBy: r.CountryBy, textLanguage: r.Language, textScreen: r.Screen,
		textTimeZone: r.TimeZone, textSession: r.Session, textGoalName: r.GoalName, textGoalCurrency: r.GoalCurrency,
	}
}

func (p *PackedVisit) text(which int) string {
	if which == 0 {
		return p.texts[:p.ends[0]]
	}
	return p.texts[p.ends[which-1]:p.ends[which]]
}

// At is when the visit was.
func (p *PackedVisit) At() time.Time { return time.UnixMilli(p.at).UTC() }

// Key is what the visit is known by.
func (p *PackedVisit) Key() VisitKey { return VisitKey{p.OrganizationID, p.BrandID, p.ID} }

// Place is where the row stands.
func (p *PackedVisit) Place() RowPlace {
	return RowPlace{p.OrganizationID, p.BrandID, p.ID, p.At().Truncate(24 * time.Hour), RecordPlace{p.text(textTopic), p.logPartition, p.logOffset}}
}

func (p *PackedVisit) value() *decimal.Decimal {
	if !p.valued {
		return nil
	}
	value := decimal.New(p.goalValue, -valueScale)
	return &value
}

// valueScale is how many digits behind the point goal_value has.
const valueScale = 6

// A VisitPacker packs visits. Some share what it allocates at once, which is free when
// none of them is used any more.
type VisitPacker struct {
	rows  []PackedVisit
	texts strings.Builder
}

// packedRows and packedText are allocated at once.
const (
	packedRows = 128
	packedText = 16 << 10
)

// Pack keeps nothing of r, whose At is of whole milliseconds and whose GoalValue is
// one that the column holds.
func (p *VisitPacker) Pack(r *VisitRow) *PackedVisit {
	if len(p.rows) == cap(p.rows) {
		p.rows = make([]PackedVisit, 0, packedRows)
	}
	p.rows = append(p.rows, PackedVisit{
		OrganizationID: r.OrganizationID, BrandID: r.BrandID, ID: r.ID, logPartition: r.LogPartition, logOffset: r.LogOffset,
		at: r.At.UnixMilli(), newSession: r.NewSession, visitor: r.Visitor, simulated: r.Simulated,
	})
	packed := &p.rows[len(p.rows)-1]
	if r.GoalValue != nil {
		packed.valued, packed.goalValue = true, r.GoalValue.Shift(valueScale).IntPart()
	}
	texts, size := r.texts(), 0
	for i, text := range texts {
		size += len(text)
		packed.ends[i] = uint32(size)
	}
	if p.texts.Cap()-p.texts.Len() < size {
		p.texts.Reset() // the texts that it made stay
		p.texts.Grow(max(size, packedText))
	}
	for _, text := range texts {
		p.texts.WriteString(text)
	}
	packed.texts = p.texts.String()[p.texts.Len()-size:]
	return packed
}
