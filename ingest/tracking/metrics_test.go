package tracking

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/ingest/platform"
)

func TestUnknownItemsOfAnswersAreCounted(t *testing.T) {
	m := newMetrics(prometheus.NewRegistry())
	m.observe("gemini", "", time.Second, platform.Reply{Text: "Fernwood.", Unknown: []string{"newThing", "newThing"}},
		nil)
	m.observe("gemini", "", time.Second, platform.Reply{}, &platform.Error{Class: platform.ChangedShape})
	if n := testutil.ToFloat64(m.unknown.WithLabelValues("gemini")); n != 2 {
		t.Errorf("%g items, want 2", n)
	}
}
