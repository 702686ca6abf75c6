package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
)

// mask stands wherever a secret would be printed.
const mask = "****"

// A Secret is a value that never shows itself: printed, logged or marshalled it is its masked text, and "" when it is not
// set. The value sits behind a pointer, because fmt prints an unexported field of another package's struct without asking
// its methods.
type Secret struct {
	value  *string
	masked string
}

// NewSecret hides value; "" is a secret that is not set.
func NewSecret(value string) Secret { return hide(value, mask) }

func hide(value, masked string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value, masked}
}

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet tells whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

// Masked is the text that may be shown.
func (s Secret) Masked() string { return s.masked }

// Format prints Masked, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.Masked()) }

// MarshalText is Masked, for JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.Masked()), nil }

// LogValue is Masked, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.Masked()) }

// A DSN is the address of an engine with the credentials to enter it. Masked, it is a URL with **** for its password and
// for every parameter that may hold a secret, or **** as a whole when it is no URL.
type DSN struct{ Secret }

// NewDSN hides what must be hidden of address; "" is none.
func NewDSN(address string) DSN { return DSN{hide(address, maskAddress(address))} }

func maskAddress(text string) string {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" {
		return mask
	}
	user := ""
	if address.User != nil {
		user = url.User(address.User.Username()).String()
		if _, has := address.User.Password(); has {
			user += ":" + mask
		}
		user += "@"
	}
	masked := address.Scheme + "://" + user + address.Host + address.EscapedPath()
	if address.RawQuery == "" {
		return masked
	}
	params := address.Query()
	var shown []string
	for pair := range strings.SplitSeq(address.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if params.Get(name) != "" && maybeSecret(name) {
			pair = name + "=" + mask
		}
		shown = append(shown, pair)
	}
	return masked + "?" + strings.Join(shown, "&")
}

// maybeSecret tells by its name that a parameter may hold a secret.
func maybeSecret(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"pass", "secret", "token", "key", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// encrypted tells whether ClickHouse is reached over TLS: its protocols have no setting but these two for it.
func (d DSN) encrypted() bool {
	address, err := url.Parse(d.Reveal())
	if err != nil {
		return false
	}
	if address.Scheme == "https" {
		return true
	}
	secure := address.Query()["secure"]
	if len(secure) == 0 {
		return false
	}
	on, err := strconv.ParseBool(secure[0])
	return secure[0] == "" || err == nil && on
}
