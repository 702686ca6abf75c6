package tracking

import "time"

// SetHeartbeatTimeout sets after how long without a heartbeat a worker's job is given to another one.
func (j *Jobs) SetHeartbeatTimeout(timeout time.Duration) {
	j.heartbeatInterval, j.heartbeatTimeout = timeout/8, timeout
}
