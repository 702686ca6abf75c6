package event

import (
	"encoding/hex"
	"strconv"

	"github.com/gofrs/uuid/v5"
)

// A printer writes a visit's record as the library does, if every text is plain ASCII and there is no goal: what a
// scanner reads (FuzzPrintVisit). It takes 0.7 µs where the library takes 1.5, of the 4 µs of a beacon.
type printer struct {
	text []byte
	bad  bool // the library has to write it: what was written is not used
}

// printVisit reports whether the record of v was appended to dst; if not, the library has to.
func printVisit(dst []byte, v *Visit) ([]byte, bool) {
	p := printer{text: dst, bad: v.Goal != nil}
	p.literal(visitHead)
	p.uuid(&v.ID)
	p.literal(`,"organization_id":`)
	p.uuid(&v.OrganizationID)
	p.literal(`,"brand_id":`)
	p.uuid(&v.BrandID)
	p.literal(`,"at":`)
	p.text = v.At.append(p.text)
	p.field(`,"event":"`, string(v.Event))
	p.field(`,"platform":"`, v.Platform)
	p.optional(`,"platform_by":"`, v.PlatformBy)
	p.field(`,"host":"`, v.Host)
	p.field(`,"path":"`, v.Path)
	p.optional(`,"referrer_host":"`, v.ReferrerHost)
	p.optional(`,"country":"`, v.Country)
	p.optional(`,"country_by":"`, v.CountryBy)
	p.optional(`,"language":"`, v.Language)
	p.optional(`,"screen":"`, v.Screen)
	p.optional(`,"time_zone":"`, v.TimeZone)
	p.optional(`,"session":"`, v.Session)
	if v.NewSession {
		p.literal(`,"new_session":true`)
	}
	if v.Visitor != 0 {
		p.literal(`,"visitor":`)
		p.text = strconv.AppendUint(p.text, v.Visitor, 10)
	}
	if v.Simulated {
		p.literal(`,"simulated":true`)
	}
	p.literal(`}`)
	if p.bad || len(p.text)-len(dst) > MaxValueBytes {
		return dst, false
	}
	return p.text, true
}

func (p *printer) literal(text string) { p.text = append(p.text, text...) }

// field writes a name, whose text's opening quote is its end, and the text.
func (p *printer) field(name, text string) {
	for i := range len(text) {
		if !plain[text[i]] {
			p.bad = true
			return
		}
	}
	p.text = append(append(append(p.text, name...), text...), '"')
}

func (p *printer) optional(name, text string) {
	if text != "" {
		p.field(name, text)
	}
}

func (p *printer) uuid(id *uuid.UUID) {
	begin, before := 0, byte('"')
	for _, end := range [...]int{4, 6, 8, 10, 16} {
		p.text = hex.AppendEncode(append(p.text, before), id[begin:end])
		begin, before = end, '-'
	}
	p.text = append(p.text, '"')
}
