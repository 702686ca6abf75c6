package feed

import (
	"cmp"
	"encoding/json"
	"strings"
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

// A Link is the data of a mail that no event causes.
type Link struct {
	Template     string    `json:"-"`
	Organization string    `json:"organization,omitempty"`
	Role         string    `json:"role,omitempty"`
	By           string    `json:"by,omitempty"` // an e-mail address; "": the operator
	Token        string    `json:"token,omitempty"`
	Expires      time.Time `json:"expires_at,omitzero"`
	At           time.Time `json:"at,omitzero"` // when the password was changed
}

// Headline is the subject of the mail.
func (l *Link) Headline() string {
	switch l.Template {
	case Confirm:
		return "Do you want mails from " + quoted(l.Organization) + "?"
	case Invite:
		return cmp.Or(l.By, "The operator") + " invites you to " + quoted(l.Organization)
	case ResetPassword:
		return "Choose a new password"
	case PasswordChanged:
		return "Your password was changed"
	}
	return "A test of answerscope's mail"
}

// maxQuoted is how many characters of a name a subject has.
const maxQuoted = 60

// quoted returns a name that a stranger reads in a subject as a name: an invited user may invite to an organization
// called "your account is locked, confirm at https://…".
func quoted(name string) string {
	name = strings.ReplaceAll(name, "://", " ")
	if letters := []rune(name); len(letters) > maxQuoted {
		name = string(letters[:maxQuoted]) + "…"
	}
	return "“" + name + "”"
}

// Seal encrypts the data, for private.mails.sealed. Only the mail of this recipient opens it.
func (l *Link) Seal(ring secret.Ring, recipient string) string {
	plain, _ := json.Marshal(l) // cannot fail: texts and times
	return ring.Seal(plain, recipient)
}
