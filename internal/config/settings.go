// Package config has the settings: their sources, their checks, and the text of each that may be shown.
//
// A setting is a flag, whose default is the variable ANSWERSCOPE_<FLAG>. A secret, and an address that may hold one,
// comes from the environment alone: command lines are seen by everyone on a machine.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/egress"
)

// Prefix begins the name of every variable of answerscope's own.
const Prefix = "ANSWERSCOPE_"

// LevelAuto lets the command choose how much it logs.
const LevelAuto = "auto"

// Settings are the ones that every command takes.
type Settings struct {
	DataDir         string   `default:"./var" placeholder:"DIR" help:"{settings_data_dir}"`
	MinFree         int64    `default:"268435456" placeholder:"BYTES" help:"{settings_min_free}"`
	PublicURL       string   `name:"public-url" placeholder:"URL" help:"{settings_public_url}"`
	EgressAllow     []string `placeholder:"CIDR" help:"{settings_egress_allow}"`
	LogLevel        string   `default:"auto" placeholder:"LEVEL" help:"{settings_log_level}"`
	LogFormat       string   `default:"text" placeholder:"FORMAT" help:"text or json (default text)."`
	Kafka           Kafka    `embed:"" prefix:"kafka-"`
	ClickHouseTrust Trust    `embed:"" prefix:"clickhouse-"`

	Cluster   string    `name:"clickhouse-cluster" default:"answerscope" placeholder:"NAME" help:"{settings_cluster}"`
	Retention Retention `embed:"" prefix:"retention-"`
	Outside   `kong:"-"`
}

// Kafka is the log: which brokers hold it and how its topics are made.
type Kafka struct {
	Brokers     []string      `placeholder:"HOST:PORT" help:"{kafka_brokers}"`
	TLS         bool          `name:"tls" help:"Speak TLS to the brokers."`
	Trust       Trust         `embed:""`
	SASL        string        `name:"sasl" placeholder:"MECHANISM" help:"{kafka_sasl}"`
	TopicPrefix string        `placeholder:"PREFIX" help:"{kafka_topic_prefix}"`
	Partitions  int           `default:"6" placeholder:"N" help:"{kafka_partitions}"`
	Replicas    int           `default:"1" placeholder:"N" help:"{kafka_replicas}"`
	Retention   time.Duration `default:"168h" placeholder:"DURATION" help:"{kafka_retention}"`
}

// Retention is for how many whole months, beside the present one, raw facts are kept; 0 is without limit. Their figures
// stay. All pipelines want the same.
type Retention struct {
	Answers     int `default:"0" placeholder:"MONTHS" help:"{retention_answers}"`
	Visits      int `default:"0" placeholder:"MONTHS" help:"The same for raw visits (default 0: no limit)."`
	Crawls      int `default:"0" placeholder:"MONTHS" help:"{retention_crawls}"`
	Deadletters int `default:"0" placeholder:"MONTHS" help:"{retention_deadletters}"`
}

// mistakes are the errors of settings.
type mistakes []error

// want adds a mistake unless the value of a variable is right; should describes a right one.
func (m *mistakes) want(right bool, name, value, should string) {
	if !right {
		*m = append(*m, fmt.Errorf("%s%s is %q: want %s", Prefix, name, value, should))
	}
}

func (m *mistakes) add(err error) { *m = append(*m, err) }

// leastMinFree lets the engines finish the writes under way.
const leastMinFree = 16 << 20

// Validate returns every mistake, each with the form of a right value.
func (s Settings) Validate() error {
	var m mistakes
	m.want(s.DataDir != "", "DATA_DIR", s.DataDir, "a directory, such as ./var")
	m.want(s.MinFree >= leastMinFree, "MIN_FREE", strconv.FormatInt(s.MinFree, 10), "bytes, at least 16777216")
	m.want(s.PublicURL == "" || isOrigin(s.PublicURL), "PUBLIC_URL", NewDSN(s.PublicURL).Masked(),
		"the address at which browsers reach this installation, such as https://answers.example, without user, "+
			"path and query")
	if _, err := egress.New(s.EgressAllow); err != nil {
		m.add(fmt.Errorf("%sEGRESS_ALLOW has %w", Prefix, err))
	}
	m.want(slices.Contains([]string{LevelAuto, "debug", "info", "warn", "error"}, s.LogLevel), "LOG_LEVEL", s.LogLevel,
		"debug, info, warn, error or auto")
	m.want(s.LogFormat == "text" || s.LogFormat == "json", "LOG_FORMAT", s.LogFormat, "text or json")
	s.Kafka.validate(&m, s.Outside)
	s.Retention.validate(&m)
	// PostgreSQL's certificates are parameters of its address.
	if s.ClickHouseTrust.IsSet() && !s.ClickHouse.encrypted() && !s.Shards.encrypted() {
		m.add(fmt.Errorf("%sCLICKHOUSE_CA, _CERT and _KEY are of no use for %q: want %[1]sCLICKHOUSE_DSN to begin "+
			"with https:// or to have secure=true",
			Prefix, s.ClickHouse.Masked()+s.Shards.Masked()))
	} else {
		s.ClickHouseTrust.validate(&m, "CLICKHOUSE")
	}
	s.Outside.validate(&m)
	s.Mail.validate(&m, s.PublicURL)
	m.want(!s.Mail.IsSet() || !s.Postgres.IsSet() || s.SecretKeys.IsSet(), "SECRET_KEYS", "",
		"id:base64, the same to every process: it encrypts the links in mails of "+Prefix+"SMTP_URL (docs/mail.md)")
	s.OIDC.validate(&m, s.PublicURL, s.Issuer)
	return errors.Join(m...)
}

// Months returns how long raw facts are kept, by topic.
func (r Retention) Months() map[string]int {
	return map[string]int{"answers": r.Answers, "visits": r.Visits, "crawls": r.Crawls}
}

func (r Retention) validate(m *mistakes) {
	for _, fact := range []struct {
		name   string
		months int
	}{{"ANSWERS", r.Answers}, {"VISITS", r.Visits}, {"CRAWLS", r.Crawls}, {"DEADLETTERS", r.Deadletters}} {
		m.want(fact.months >= 0 && fact.months <= 1200, "RETENTION_"+fact.name, strconv.Itoa(fact.months),
			"whole months, 1 to 1200, or 0 without limit")
	}
}

// topicLetters may be in a topic's name.
const topicLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func (k Kafka) validate(m *mistakes, outside Outside) {
	for _, broker := range k.Brokers {
		if err := Address(broker); err != nil {
			m.add(fmt.Errorf("%sKAFKA_BROKERS is %q: %w", Prefix, broker, err))
		}
	}
	m.want(slices.Contains([]string{"", "plain", "scram-sha-256", "scram-sha-512"}, k.SASL), "KAFKA_SASL", k.SASL,
		"plain, scram-sha-256 or scram-sha-512")
	named := outside.KafkaUsername != "" && outside.KafkaPassword.IsSet()
	m.want((k.SASL != "") == named, "KAFKA_SASL", k.SASL,
		"a mechanism, ANSWERSCOPE_KAFKA_USERNAME and ANSWERSCOPE_KAFKA_PASSWORD together, or none of them")
	if k.Trust.IsSet() && !k.TLS {
		m.add(errors.New("ANSWERSCOPE_KAFKA_CA, _CERT and _KEY are of no use without ANSWERSCOPE_KAFKA_TLS"))
	}
	k.Trust.validate(m, "KAFKA")
	if (k.TLS || k.SASL != "") && len(k.Brokers) == 0 {
		m.add(errors.New("ANSWERSCOPE_KAFKA_TLS and _SASL are for outside brokers: give ANSWERSCOPE_KAFKA_BROKERS too"))
	}
	m.want(strings.Trim(k.TopicPrefix, topicLetters) == "" && len(k.TopicPrefix) <= 200, "KAFKA_TOPIC_PREFIX",
		k.TopicPrefix, "at most 200 of a–z, A–Z, 0–9, dot, _ and -")
	m.want(k.Partitions >= 1 && k.Partitions <= 1000, "KAFKA_PARTITIONS", strconv.Itoa(k.Partitions), "1 to 1000")
	m.want(k.Replicas >= 1 && k.Replicas <= 15, "KAFKA_REPLICAS", strconv.Itoa(k.Replicas),
		"1 to 15, and no more than there are brokers")
	m.want(k.Retention >= time.Hour, "KAFKA_RETENTION", k.Retention.String(),
		"at least 1h: what expires unread is lost")
}

// Address checks a host and a port, such as 127.0.0.1:8080 or :8080.
func Address(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("want a port of 0 to 65535 after the colon, not %q", port)
	}
	if strings.ContainsAny(host, " /@") {
		return errors.New("want a host name or an IP address before the colon")
	}
	if strings.ContainsRune(host, ':') {
		if _, err := netip.ParseAddr(host); err != nil {
			return errors.New("want an IPv6 address in the brackets")
		}
	}
	return nil
}

// isOrigin reports whether an address is one of HTTP with a host alone.
func isOrigin(address string) bool {
	base, err := url.Parse(address)
	return err == nil && IsWeb(address) && base.Scheme+"://"+base.Host == address
}

// IsWeb reports whether an address is one of HTTP.
func IsWeb(address string) bool {
	base, err := url.Parse(address)
	return err == nil && base.Host != "" && (base.Scheme == "http" || base.Scheme == "https")
}

// IsSecure reports whether an address is one of HTTPS, or of HTTP on this machine.
func IsSecure(address string) bool {
	base, err := url.Parse(address)
	return err == nil && IsWeb(address) && (base.Scheme == "https" || IsLoopback(base.Hostname()))
}
