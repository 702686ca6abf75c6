package mirror

import "time"

// SetTimeout is for tests that wait for it.
func (m *Mirror) SetTimeout(d time.Duration) { m.timeout = d }
