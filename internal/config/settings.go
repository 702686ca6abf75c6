// Package config says what can be set, where each value comes from, and what of it may be shown.
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
)

// Prefix begins the name of every variable that is ours alone.
const Prefix = "ANSWERSCOPE_"

// LevelAuto lets the command choose how much it logs.
const LevelAuto = "auto"

// Settings are the ones that every command takes.
type Settings struct {
	DataDir         string    `default:"./var" placeholder:"DIR" help:"Where the embedded engines keep what they hold (default ./var)."`
	LogLevel        string    `default:"auto" placeholder:"LEVEL" help:"debug, info, warn, error, or auto: info for what serves, warn for the rest."`
	LogFormat       string    `default:"text" placeholder:"FORMAT" help:"text or json (default text)."`
	Kafka           Kafka     `embed:"" prefix:"kafka-"`
	ClickHouseTrust Trust     `embed:"" prefix:"clickhouse-"`
	Cluster         string    `name:"clickhouse-cluster" default:"answerscope" placeholder:"NAME" help:"What the servers of ANSWERSCOPE_CLICKHOUSE_SHARDS call their cluster in remote_servers (default answerscope)."`
	Retention       Retention `embed:"" prefix:"retention-"`
	Outside         `kong:"-"`
}

// Kafka is the log: which brokers hold it and how its topics are made.
type Kafka struct {
	Brokers     []string      `placeholder:"HOST:PORT" help:"Brokers of an outside Kafka; none starts the embedded one."`
	TLS         bool          `name:"tls" help:"Speak TLS to the brokers."`
	Trust       Trust         `embed:""`
	SASL        string        `name:"sasl" placeholder:"MECHANISM" help:"plain, scram-sha-256 or scram-sha-512, with the name and the password of ANSWERSCOPE_KAFKA_USERNAME and ANSWERSCOPE_KAFKA_PASSWORD."`
	TopicPrefix string        `placeholder:"PREFIX" help:"Put before the name of every topic; a replaced log needs a new one."`
	Partitions  int           `default:"6" placeholder:"N" help:"Partitions of a topic that migrate creates (default 6)."`
	Replicas    int           `default:"1" placeholder:"N" help:"Replicas of a topic that migrate creates (default 1; a cluster wants 3)."`
	Retention   time.Duration `default:"168h" placeholder:"DURATION" help:"How long the log keeps records (default 168h, 7 days)."`
}

// Validate says everything that is wrong, each with what would be right.
func (s Settings) Validate() error {
	var errs []error
	if s.DataDir == "" {
		errs = append(errs, wrong("DATA_DIR", s.DataDir, "want a directory, such as ./var"))
	}
	if !slices.Contains([]string{LevelAuto, "debug", "info", "warn", "error"}, s.LogLevel) {
		errs = append(errs, wrong("LOG_LEVEL", s.LogLevel, "want debug, info, warn, error or auto"))
	}
	if !slices.Contains([]string{"text", "json"}, s.LogFormat) {
		errs = append(errs, wrong("LOG_FORMAT", s.LogFormat, "want text or json"))
	}
	return errors.Join(append(errs, s.Kafka.validate(s.Outside), s.Retention.validate(), s.warehouse(), s.Outside.validate())...)
}

// warehouse checks whom ClickHouse is believed by; PostgreSQL's certificates are parameters of its address.
func (s Settings) warehouse() error {
	if s.ClickHouseTrust.IsSet() && !s.ClickHouse.encrypted() && !s.Shards.encrypted() {
		return fmt.Errorf("%sCLICKHOUSE_CA, _CERT and _KEY are of no use for %q: want %[1]sCLICKHOUSE_DSN to begin with https:// or to have secure=true",
			Prefix, s.ClickHouse.Masked()+s.Shards.Masked())
	}
	return s.ClickHouseTrust.validate("CLICKHOUSE")
}

func (k Kafka) validate(outside Outside) error {
	var errs []error
	for _, broker := range k.Brokers {
		if err := Address(broker); err != nil {
			errs = append(errs, wrong("KAFKA_BROKERS", broker, err.Error()))
		}
	}
	if !slices.Contains([]string{"", "plain", "scram-sha-256", "scram-sha-512"}, k.SASL) {
		errs = append(errs, wrong("KAFKA_SASL", k.SASL, "want plain, scram-sha-256 or scram-sha-512"))
	}
	if named := outside.KafkaUsername != "" && outside.KafkaPassword.IsSet(); (k.SASL != "") != named {
		errs = append(errs, wrong("KAFKA_SASL", k.SASL, "want a mechanism, ANSWERSCOPE_KAFKA_USERNAME and ANSWERSCOPE_KAFKA_PASSWORD together, or none of them"))
	}
	if k.Trust.IsSet() && !k.TLS {
		errs = append(errs, errors.New("ANSWERSCOPE_KAFKA_CA, _CERT and _KEY are of no use without ANSWERSCOPE_KAFKA_TLS"))
	}
	errs = append(errs, k.Trust.validate("KAFKA"))
	if (k.TLS || k.SASL != "") && len(k.Brokers) == 0 {
		errs = append(errs, errors.New("ANSWERSCOPE_KAFKA_TLS and _SASL are for outside brokers: give ANSWERSCOPE_KAFKA_BROKERS too"))
	}
	if strings.Trim(k.TopicPrefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || len(k.TopicPrefix) > 200 {
		errs = append(errs, wrong("KAFKA_TOPIC_PREFIX", k.TopicPrefix, "want at most 200 of a–z, A–Z, 0–9, dot, _ and -"))
	}
	if k.Partitions < 1 || k.Partitions > 1000 {
		errs = append(errs, wrong("KAFKA_PARTITIONS", strconv.Itoa(k.Partitions), "want 1 to 1000"))
	}
	if k.Replicas < 1 || k.Replicas > 15 {
		errs = append(errs, wrong("KAFKA_REPLICAS", strconv.Itoa(k.Replicas), "want 1 to 15, and no more than there are brokers"))
	}
	if k.Retention < time.Hour {
		errs = append(errs, wrong("KAFKA_RETENTION", k.Retention.String(), "want at least 1h: what expires unread is lost"))
	}
	return errors.Join(errs...)
}

// Address checks a host and a port, such as 127.0.0.1:8080 or :8080.
func Address(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:8080")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("want a port of 0 to 65535 after the colon, not %d", n)
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

// webAddress checks the base of an HTTP service.
func webAddress(address string) error {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return errors.New("want http://… or https://…")
	}
	return nil
}

// wrong words one mistake: which variable, what it holds, what would be right.
func wrong(name, value, want string) error {
	return fmt.Errorf("%s%s is %q: %s", Prefix, name, value, want)
}
