package purge

import "time"

// SetTimes is for tests that wait for them.
func (p *Purger) SetTimes(interval, repeatAfter time.Duration) {
	p.interval, p.repeatAfter = interval, repeatAfter
}
