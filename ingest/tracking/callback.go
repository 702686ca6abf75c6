package tracking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
)

// Callbacks makes and checks the addresses that capture providers call once a capture has ended. A callback never
// carries the answer: it makes us look, with our key.
type Callbacks struct {
	BaseURL       string // of the tracking server, as providers reach it
	Ring          secret.Ring
	WebhookSecret string // with which Cloro signs its callbacks; "": they are not signed
}

// Signing is the provider that signs its callbacks, which contain the whole capture.
const Signing = "cloro"

const (
	tokenBytes   = 16              // of the MAC in an address
	maxSignedAge = 5 * time.Minute // of a signed callback
)

func (a *asker) callbackURL(r *queuedRun) string {
	if a.Callbacks == nil {
		return ""
	}
	return a.Callbacks.URL(r.Provider, r.ID)
}

// URL returns the address that a provider calls once it has the capture of a run.
func (c *Callbacks) URL(provider string, run uuid.UUID) string {
	return c.BaseURL + "/callbacks/" + provider + "/" + c.token(provider, run)
}

// token names a run and proves that we made it for a provider.
func (c *Callbacks) token(provider string, run uuid.UUID) string {
	mac := c.Ring.MAC("capture:" + provider + ":" + run.String())
	return hex.EncodeToString(run[:]) + hex.EncodeToString(mac[:tokenBytes])
}

// Run returns the run of a provider's token; false: the token is forged.
func (c *Callbacks) Run(provider, token string) (run uuid.UUID, ok bool) {
	decoded, err := hex.DecodeString(token)
	if err == nil && len(decoded) == len(run)+tokenBytes {
		copy(run[:], decoded)
	}
	return run, hmac.Equal([]byte(token), []byte(c.token(provider, run)))
}

// Check returns the run of a callback. timestamp and signature are headers; a wrong token or signature is a problem of
// kind Unauthenticated, an old timestamp one of kind Invalid. One without a signature is taken: its token is right, and
// the capture is fetched.
func (c *Callbacks) Check(
	provider, token, timestamp, signature string, body []byte, now time.Time,
) (run uuid.UUID, err error) {
	run, ok := c.Run(provider, token)
	if !ok {
		return run, problem.New(problem.Unauthenticated, "the token of this address is wrong")
	}
	if provider != Signing || c.WebhookSecret == "" || signature == "" {
		return run, nil
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age.Abs() > maxSignedAge {
		return run, problem.New(problem.Invalid,
			"X-Cloro-Timestamp: want seconds since 1970, at most %s off", maxSignedAge)
	}
	mac := hmac.New(sha256.New, []byte(c.WebhookSecret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	if !hmac.Equal([]byte(signature), []byte("v1="+hex.EncodeToString(mac.Sum(nil)))) {
		return run, problem.New(problem.Unauthenticated, "X-Cloro-Signature is wrong")
	}
	return run, nil
}

// PollSoon polls the job of a run soon, if this process waits for it. Another process polls it a little later anyway.
func (j *Jobs) PollSoon(run uuid.UUID) {
	if queue, ok := j.awaited.Load(run); ok {
		queue.(*runQueue).hasten(run, j.Now())
	}
}
