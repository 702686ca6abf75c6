package tracing

import "time"

// SetFlush lets a test wait less for the last spans.
func (t *Traces) SetFlush(most time.Duration) { t.flush = most }
