package collector

import (
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/event"

	"github.com/prometheus/client_golang/prometheus"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// unsalted hashes no visitor: it has no salts.
var unsalted = sync.OnceValue(func() *visitor.Visitors {
	visitors, err := visitor.New("", nil, prometheus.NewRegistry(), nil)
	if err != nil {
		panic(err)
	}
	return visitors
})

// kept reports whether the log takes the visit of b.
func kept(b *beacon) error {
	r := &request{c: &Collector{parts: Parts{Visitors: unsalted()}}, at: noon}
	var v event.Visit
	r.fill(&v, b, &site.Site{OrganizationID: uuid.NamespaceDNS, BrandID: uuid.NamespaceURL}, "chatgpt", "referrer")
	if err := v.Check(noon); err != nil {
		return err
	}
	record, err := event.EncodeVisit(nil, &v)
	if err != nil {
		return err
	}
	return event.DecodeVisit(record, new(event.Visit))
}

func TestAnIDIsAVersion7OfItsMillisecond(t *testing.T) {
	seen := map[uuid.UUID]bool{}
	for range 10_000 {
		id := newID(noon)
		if seen[id] || id.Version() != uuid.V7 || id.Variant() != uuid.VariantRFC9562 || !event.IDTime(id).Equal(noon) {
			t.Fatalf("id %s: version %d, variant %d, time %s, seen %v", id, id.Version(), id.Variant(),
				event.IDTime(id), seen[id])
		}
		seen[id] = true
	}
}
