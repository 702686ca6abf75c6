package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/secret"
)

// mask stands wherever a secret would be printed.
const mask = "****"

// A Secret is a value that never shows itself: printed, logged or marshalled it is its masked text, and "" when it is
// not set. The value sits behind a pointer, because fmt prints an unexported field of another package's struct without
// asking its methods.
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

func (s *Secret) set(value string) { *s = NewSecret(value) }

// Reveal returns the value.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

// Masked is the text that may be shown.
func (s Secret) Masked() string { return s.masked }

// Format prints Masked for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.Masked()) }

// MarshalText is Masked, for JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.Masked()), nil }

// LogValue is Masked, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.Masked()) }

// A DSN is the address of an engine with the credentials to enter it. Masked, it is a URL with **** for its password
// and for every parameter that may hold a secret, or **** as a whole when it is no URL.
type DSN struct{ Secret }

// NewDSN hides what must be hidden of address; "" is none.
func NewDSN(address string) DSN { return DSN{hide(address, maskAddress(address))} }

func (d *DSN) set(address string) { *d = NewDSN(address) }

func maskAddress(text string) string {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || hasLateAt(text) {
		return mask
	}
	user := ""
	if address.User != nil {
		name := address.User.Username()
		password, has := address.User.Password()
		if user = url.User(name).String(); has && name == password { // a token as both, as some relays want
			user = mask
		}
		if has {
			user += ":" + mask
		}
		user += "@"
	}
	masked := address.Scheme + "://" + user + address.Host + address.EscapedPath()
	if address.RawQuery == "" {
		return masked
	}
	var pairs []string
	for pair := range strings.SplitSeq(address.RawQuery, "&") {
		pairs = append(pairs, maskPair(pair))
	}
	return masked + "?" + strings.Join(pairs, "&")
}

// hasLateAt reports whether there is an @ after the host: a / ? or # that is not escaped ends it within a password.
func hasLateAt(text string) bool {
	_, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	return end >= 0 && strings.Contains(rest[end:], "@")
}

// maskPair hides the value of a parameter that may hold a secret, and all that a reader of parameters may not read.
func maskPair(pair string) string {
	name, value, _ := strings.Cut(pair, "=")
	plain, err := url.QueryUnescape(name)
	_, wrong := url.QueryUnescape(value)
	switch {
	case err != nil || strings.Contains(name, ";"):
		return mask
	case value != "" && (maybeSecret(plain) || wrong != nil || strings.Contains(value, ";")):
		return name + "=" + mask
	}
	return pair
}

// maybeSecret reports whether a parameter may hold a secret, by its name.
func maybeSecret(name string) bool {
	return slices.ContainsFunc([]string{"pass", "secret", "token", "key", "credential"}, func(part string) bool {
		return strings.Contains(strings.ToLower(name), part)
	})
}

// encrypted reports whether ClickHouse is reached over TLS, which either protocol has one setting for.
func (d DSN) encrypted() bool {
	address, err := url.Parse(d.Reveal())
	if err != nil {
		return false
	}
	secure := address.Query()["secure"]
	if address.Scheme == "https" || len(secure) == 0 {
		return address.Scheme == "https"
	}
	on, err := strconv.ParseBool(secure[0])
	return secure[0] == "" || err == nil && on
}

// Shards are the servers of a ClickHouse cluster: addresses with credentials. A semicolon separates shards, a comma the
// replicas of one.
type Shards struct{ Secret }

var server = regexp.MustCompile(`[^;,]*`)

// NewShards hides what must be hidden; "" is none.
func NewShards(addresses string) Shards {
	hasUnread := false
	masked := server.ReplaceAllStringFunc(addresses, func(address string) string {
		text := NewDSN(strings.TrimSpace(address)).Masked()
		hasUnread = hasUnread || text == mask
		return text
	})
	if hasUnread { // a comma in a password ends an address, too
		masked = mask
	}
	return Shards{hide(addresses, masked)}
}

func (s *Shards) set(addresses string) { *s = NewShards(addresses) }

// servers are the addresses of all servers.
func (s Shards) servers() []DSN {
	var servers []DSN
	for address := range strings.SplitSeq(strings.ReplaceAll(s.Reveal(), ";", ","), ",") {
		servers = append(servers, NewDSN(strings.TrimSpace(address)))
	}
	return servers
}

// encrypted reports whether all servers are reached over TLS.
func (s Shards) encrypted() bool {
	return !slices.ContainsFunc(s.servers(), func(d DSN) bool { return !d.encrypted() })
}

// SecretRing returns the keys of what the database has encrypted. Beside an embedded database they are in a file; for
// one that other machines use they must be given.
func (s Settings) SecretRing() (secret.Ring, error) {
	if s.SecretKeys.IsSet() {
		return secret.ParseRing(s.SecretKeys.Reveal())
	}
	if s.Postgres.IsSet() {
		return secret.Ring{}, nil
	}
	return secret.FileRing(s.SecretKeysFile())
}

// SecretKeysFile is the file of an installation with an embedded database that holds its keys.
func (s Settings) SecretKeysFile() string { return filepath.Join(s.DataDir, "secret-keys") }
