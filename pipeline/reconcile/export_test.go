package reconcile

import "time"

// SetTimes is for tests that wait for them.
func (c *Config) SetTimes(lockTimeout, outlast, pause time.Duration, tries int) {
	c.lockTimeout, c.outlast, c.pause, c.tries = lockTimeout, outlast, pause, tries
}
