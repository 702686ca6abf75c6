package feed

import (
	"encoding/json"
	"time"

	"github.com/answerscope/answerscope/internal/secret"
)

// The templates of mails that no event causes.
const (
	Confirm         = "confirm"
	Invite          = "invitation"
	ResetPassword   = "reset"
	PasswordChanged = "password_changed"
	TestMail        = "test"
)

// Seal encrypts the data of a mail with a link, for private.mails.sealed. Only the mail of this recipient opens it.
func Seal(ring secret.Ring, recipient string, data Teller) (string, error) {
	plain, err := json.Marshal(data)
	return ring.Seal(plain, recipient), err
}

// A Confirmation asks a new address whether it wants the mails.
type Confirmation struct {
	Organization string    `json:"organization"`
	Token        string    `json:"token"` // of PUBLIC_URL/confirm/TOKEN
	Expires      time.Time `json:"expires_at"`
}

// An Invitation invites to an organization.
type Invitation struct {
	Organization string    `json:"organization"`
	Role         string    `json:"role"`
	By           string    `json:"by"`    // an e-mail address; "": the operator
	Token        string    `json:"token"` // of PUBLIC_URL/invite/TOKEN
	Expires      time.Time `json:"expires_at"`
}

// A Reset lets a user choose another password.
type Reset struct {
	Token   string    `json:"token"` // of PUBLIC_URL/reset/TOKEN
	Expires time.Time `json:"expires_at"`
}

// A PasswordChange tells a user about one.
type PasswordChange struct {
	At time.Time `json:"at"`
}

// A Test tells nothing but that mails arrive.
type Test struct{}
