package upkeep

import "time"

// SetTimeout is for tests that wait for it.
func (m *Mirror) SetTimeout(d time.Duration) { m.timeout = d }

// SetTimes is for tests that wait for them.
func (p *Purger) SetTimes(interval, repeatAfter time.Duration) {
	p.interval, p.repeatAfter = interval, repeatAfter
}

// SetLockTimeout is for tests that wait for it.
func (c *RetentionConfig) SetLockTimeout(d time.Duration) { c.lockTimeout = d }
