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

// A Secret is a value that never shows itself: printed, logged or marshalled it is ****, and "" when it is not set.
// The value sits behind a pointer, because fmt prints an unexported string field of someone else's struct without
// asking its methods.
type Secret struct{ value *string }

// NewSecret hides value; "" is a secret that is not set.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
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

// Masked is what may be shown.
func (s Secret) Masked() string {
	if s.value == nil {
		return ""
	}
	return mask
}

// String is Masked.
func (s Secret) String() string { return s.Masked() }

// GoString is Masked, for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("config.Secret(%q)", s.Masked()) }

// Format prints Masked whatever the verb: %d would otherwise print the fields.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.Masked()) }

// MarshalText is Masked, for JSON and everything else that asks.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.Masked()), nil }

// LogValue is Masked, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.Masked()) }

// A DSN is the address of an engine, with the credentials to enter it: a URL whose password does not show itself.
type DSN struct{ secret Secret }

// NewDSN hides what must be hidden of address; "" is none.
func NewDSN(address string) DSN { return DSN{NewSecret(address)} }

// Reveal returns the whole address, for the driver that connects.
func (d DSN) Reveal() string { return d.secret.Reveal() }

// IsSet tells whether an address is given.
func (d DSN) IsSet() bool { return d.secret.IsSet() }

// Masked is the address with **** for its password and for every parameter that may hold a secret, or **** as a
// whole when it is no URL.
func (d DSN) Masked() string {
	if !d.IsSet() {
		return ""
	}
	address, err := url.Parse(d.Reveal())
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
	params := address.Query()
	var shown []string
	for pair := range strings.SplitSeq(address.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if params.Get(name) != "" && secretive(name) {
			pair = name + "=" + mask
		}
		shown = append(shown, pair)
	}
	masked := address.Scheme + "://" + user + address.Host + address.EscapedPath()
	if address.RawQuery != "" {
		masked += "?" + strings.Join(shown, "&")
	}
	return masked
}

// encrypted tells whether ClickHouse is spoken to over TLS: its protocols have no setting but these two for it.
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

// String is Masked.
func (d DSN) String() string { return d.Masked() }

// GoString is Masked, for %#v.
func (d DSN) GoString() string { return fmt.Sprintf("config.DSN(%q)", d.Masked()) }

// Format prints Masked whatever the verb: %d would otherwise print the fields.
func (d DSN) Format(f fmt.State, _ rune) { fmt.Fprint(f, d.Masked()) }

// MarshalText is Masked, for JSON and everything else that asks.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.Masked()), nil }

// LogValue is Masked, for log/slog.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.Masked()) }

// secretive tells by its name that a parameter may hold a secret.
func secretive(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"pass", "secret", "token", "key", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
