package clickhouse

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// VisitRow is a row of the landing table visits: an accepted beacon. It is inserted as a PackedVisit.
type VisitRow struct {
	OrganizationID UUID
	BrandID        UUID
	ID             UUID
	LogTopic       string
	LogPartition   int32
	LogOffset      int64

	At           time.Time
	Event        string
	Platform     string
	PlatformBy   string
	Host         string
	Path         string
	ReferrerHost string
	Country      string
	CountryBy    string
	Language     string
	Screen       string
	TimeZone     string
	Session      string
	NewSession   bool
	Visitor      uint64
	GoalName     string
	GoalValue    *decimal.Decimal // nil: none was sent
	GoalCurrency string
	Simulated    bool
}

// Visits is the landing table of topic visits.
var Visits = landing(columnar("visits", append(visitTextColumns(),
	column("organization_id", func(p PackedVisit) UUID { return p.uuid(packedOrganization) }),
	column("brand_id", func(p PackedVisit) UUID { return p.uuid(packedBrand) }),
	column("day", PackedVisit.At),
	column("id", func(p PackedVisit) UUID { return p.uuid(packedID) }),
	column("log_partition", func(p PackedVisit) int32 { return int32(p.uint32(packedPartition)) }),
	column("log_offset", func(p PackedVisit) int64 { return int64(p.uint64(packedOffset)) }),
	column("at", func(p PackedVisit) int64 { return int64(p.uint64(packedAt)) }),
	column("new_session", func(p PackedVisit) bool { return p.flag(flagNewSession) }),
	column("visitor", func(p PackedVisit) uint64 { return p.uint64(packedVisitor) }),
	column("goal_value", PackedVisit.value),
	column("simulated", func(p PackedVisit) bool { return p.flag(flagSimulated) }),
)...), factKey)

// visitTexts are the text columns in the order of VisitRow.texts.
var visitTexts = [15]string{
	"log_topic", "event", "platform", "platform_by", "host", "path", "referrer_host", "country", "country_by",
	"language", "screen", "time_zone", "session", "goal_name", "goal_currency",
}

func (r *VisitRow) texts() [len(visitTexts)]string {
	return [...]string{
		r.LogTopic, r.Event, r.Platform, r.PlatformBy, r.Host, r.Path, r.ReferrerHost, r.Country, r.CountryBy,
		r.Language, r.Screen, r.TimeZone, r.Session, r.GoalName, r.GoalCurrency,
	}
}

func visitTextColumns() (columns []tableColumn[PackedVisit]) {
	for i, name := range visitTexts {
		columns = append(columns, column(name, func(p PackedVisit) string { return p.text(i) }))
	}
	return columns
}

// A PackedVisit is an encoded VisitRow that waits for its insert: first the numbers, then the ends of the texts, then
// the texts. The zero value is no visit. Hundreds of thousands of a backlog wait. Under bench pipeline the process had
// 264 MB resident; with a struct of numbers and one string of texts it had 342 MB, and with VisitRows and the texts of
// their records 512 MB.
type PackedVisit string

// Where the numbers of a PackedVisit begin, little-endian. The ends of its texts follow, four bytes each, counted from
// packedTexts.
const (
	packedOrganization = 0
	packedBrand        = packedOrganization + 16
	packedID           = packedBrand + 16
	packedOffset       = packedID + 16
	packedAt           = packedOffset + 8 // Unix milliseconds
	packedVisitor      = packedAt + 8
	packedGoalValue    = packedVisitor + 8 // millionths
	packedPartition    = packedGoalValue + 8
	packedFlags        = packedPartition + 4
	packedEnds         = packedFlags + 1
	packedTexts        = packedEnds + 4*len(visitTexts)
)

// The flags of a PackedVisit.
const (
	flagGoalValue byte = 1 << iota // it has a goal value
	flagNewSession
	flagSimulated
)

func (p PackedVisit) uint64(at int) uint64 {
	b := p[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func (p PackedVisit) uint32(at int) uint32 {
	b := p[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (p PackedVisit) uuid(at int) (id UUID) {
	copy(id[:], p[at:])
	return id
}

func (p PackedVisit) flag(flag byte) bool { return p[packedFlags]&flag != 0 }

func (p PackedVisit) text(i int) string {
	from, to := uint32(0), p.uint32(packedEnds+4*i)
	if i > 0 {
		from = p.uint32(packedEnds + 4*(i-1))
	}
	return string(p[packedTexts+int(from) : packedTexts+int(to)])
}

// At is the time of the visit.
func (p PackedVisit) At() time.Time { return time.UnixMilli(int64(p.uint64(packedAt))).UTC() }

// Key identifies the visit.
func (p PackedVisit) Key() Key {
	return Key{p.uuid(packedOrganization), p.uuid(packedBrand), p.uuid(packedID)}
}

// Month is the partition of the row.
func (p PackedVisit) Month() Month { return MonthOf(p.At()) }

// Offset is the offset of the record.
func (p PackedVisit) Offset() int64 { return int64(p.uint64(packedOffset)) }

func (p PackedVisit) value() *decimal.Decimal {
	if !p.flag(flagGoalValue) {
		return nil
	}
	value := decimal.New(int64(p.uint64(packedGoalValue)), -valueScale)
	return &value
}

// valueScale is the number of decimals of goal_value.
const valueScale = 6

// A VisitPacker packs visits. Several share an allocation, which is freed once none of them is used.
type VisitPacker struct {
	packed strings.Builder
}

// packAllocation is how many bytes are allocated at once.
const packAllocation = 32 << 10

// Pack retains nothing of r, whose At is in whole milliseconds and whose GoalValue fits the column.
func (p *VisitPacker) Pack(r *VisitRow) PackedVisit {
	texts := r.texts()
	head, size := r.head(&texts)
	if p.packed.Cap()-p.packed.Len() < size {
		p.packed.Reset() // earlier visits stay valid
		p.packed.Grow(max(size, packAllocation))
	}
	p.packed.Write(head[:])
	for _, text := range texts {
		p.packed.WriteString(text)
	}
	return PackedVisit(p.packed.String()[p.packed.Len()-size:])
}

// head returns the bytes before the texts, and the size of the whole visit.
func (r *VisitRow) head(texts *[len(visitTexts)]string) (head [packedTexts]byte, size int) {
	copy(head[packedOrganization:], r.OrganizationID[:])
	copy(head[packedBrand:], r.BrandID[:])
	copy(head[packedID:], r.ID[:])
	binary.LittleEndian.PutUint64(head[packedOffset:], uint64(r.LogOffset))
	binary.LittleEndian.PutUint64(head[packedAt:], uint64(r.At.UnixMilli()))
	binary.LittleEndian.PutUint64(head[packedVisitor:], r.Visitor)
	binary.LittleEndian.PutUint32(head[packedPartition:], uint32(r.LogPartition))
	if r.GoalValue != nil {
		head[packedFlags] |= flagGoalValue
		binary.LittleEndian.PutUint64(head[packedGoalValue:], uint64(r.GoalValue.Shift(valueScale).IntPart()))
	}
	if r.NewSession {
		head[packedFlags] |= flagNewSession
	}
	if r.Simulated {
		head[packedFlags] |= flagSimulated
	}
	end := uint32(0)
	for i, text := range texts {
		end += uint32(len(text))
		binary.LittleEndian.PutUint32(head[packedEnds+4*i:], end)
	}
	return head, packedTexts + int(end)
}

type lastVisitsParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
	From      int64  `ch:"from"`
	Below     int64  `ch:"below"`
}

var lastVisits = query[lastVisitsParams, Key]("last_visits")

// LastVisits returns the visits that landed from a partition's last offsets below the limit, in the order of the log.
func LastVisits(ctx context.Context, conn *Conn, offsets int64, limit LogLimit) ([]Key, error) {
	params := lastVisitsParams{limit.Topic, limit.Partition, limit.Offset - offsets, limit.Offset}
	rows, err := lastVisits.All(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("read last visits of %s/%d: %w", limit.Topic, limit.Partition, err)
	}
	return rows, nil
}

type newestVisitRow struct {
	Newest uint64 `ch:"newest"`
}

var newestVisit = query[struct{}, newestVisitRow]("newest_visit")

// NewestVisit returns the latest time in the id of a visit that has landed; ok is false if none has.
func NewestVisit(ctx context.Context, conn *Conn) (at time.Time, ok bool, err error) {
	rows, err := newestVisit.All(ctx, conn, struct{}{})
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return time.UnixMilli(int64(rows[0].Newest)).UTC(), true, nil
}
