package tracking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/gofrs/uuid/v5"
)

// SetHeartbeatTimeout sets after how long without a heartbeat a worker's job is given to another one, and after twice
// as long its part of the limits.
func (j *Jobs) SetHeartbeatTimeout(timeout time.Duration) {
	j.heartbeatInterval, j.heartbeatTimeout, j.limits.leaseDuration = timeout/8, timeout, 2*timeout
}

// SetFirstPause sets for how long a capture provider that fails is passed over first.
func (j *Jobs) SetFirstPause(pause time.Duration) { j.limits.firstPause = pause }

// Token returns the token of a provider's callbacks of a run.
func Token(c *Callbacks, provider string, run uuid.UUID) string { return c.token(provider, run) }

// Sign returns the signature of a callback of Cloro.
func Sign(secret, timestamp, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + body))
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}
