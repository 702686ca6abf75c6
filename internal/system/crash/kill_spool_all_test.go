//go:build all

package crash

import (
	"fmt"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

// The spool is as small as it may be, and Kafka away until it is full: beacons are answered 503 then, and 204 again
// once Kafka is back.
func TestAFullSpoolRefusesBeaconsUntilKafkaIsBack(t *testing.T) {
	t.Parallel()
	c := newCollectorTest(t, "kafka")
	c.env = append(c.env, fmt.Sprintf("ANSWERSCOPE_SPOOL_BYTES=%d", 4*event.MaxRecordBytes))
	c.start(t)
	c.browserLoad = newBrowserLoad(c, 50)
	end := c.browserLoad.browse(t, 500)
	c.browserLoad.await(t, 204, 100)
	c.StopKafka(t)
	c.browserLoad.await(t, 503, 100)
	c.StartKafka(t)
	c.browserLoad.await(t, 204, 100)
	end()
	c.counted(t)
	t.Log(c.browserLoad)
}
