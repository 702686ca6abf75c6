package retention

import "time"

// SetLockTimeout is for tests that wait for it.
func (c *Config) SetLockTimeout(d time.Duration) { c.lockTimeout = d }
