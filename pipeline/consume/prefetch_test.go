package consume

import (
	"context"
	"testing"
)

// A batch stays wanted when the one before was full before it could end for that.
func TestARequestIsNotLostToABatchThatIsOver(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	h := newPrefetch[int]()
	for range 100 {
		h.request()
		h.endWhenWanted(over, func() { t.Error("a batch that is over was ended") })
		select {
		case <-h.wanted:
		default:
			t.Fatal("the request is gone")
		}
	}
}
