package producer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/dialer"
)

const (
	clientID    = "answerscope"
	dialTimeout = 5 * time.Second

	// metadataAge is how late a retry after a change of leaders finds the new one.
	metadataAge = time.Second
)

// Connection has the addresses and credentials with which producers and consumers reach the brokers.
type Connection struct {
	Brokers []string // host:port, one or more to begin with

	TLS   bool
	Trust config.Trust // trusted certificates, and our own; of no use without TLS

	Mechanism string // SASL: "plain", "scram-sha-256", "scram-sha-512"; "" is none
	Username  string
	Password  config.Secret
}

// Mechanisms are the SASL mechanisms that a Connection knows.
var Mechanisms = []string{"plain", "scram-sha-256", "scram-sha-512"}

// Validate joins an error for each wrong field.
func (c Connection) Validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("brokers: want at least one host:port"))
	}
	for _, b := range c.Brokers {
		if _, _, err := net.SplitHostPort(b); err != nil {
			errs = append(errs, fmt.Errorf("broker %q: want host:port", b))
		}
	}
	if c.Trust.IsSet() && !c.TLS {
		errs = append(errs, errors.New("certificates: of no use without TLS"))
	}
	if c.Mechanism != "" && !slices.Contains(Mechanisms, c.Mechanism) {
		errs = append(errs, fmt.Errorf("SASL mechanism %q: want one of %q", c.Mechanism, Mechanisms))
	}
	if (c.Mechanism != "") != (c.Username != "" && c.Password.IsSet()) {
		errs = append(errs, errors.New("SASL: want a mechanism, a username and a password, or none of them"))
	}
	return errors.Join(errs...)
}

// Transport makes the transport of a kafka.Client, which keeps the metadata of the given topics fresh. Close its idle
// connections when it is no longer used.
func (c Connection) Transport(topics ...string) (*kafka.Transport, error) {
	trust, credentials, err := c.security()
	if err != nil {
		return nil, err
	}
	return &kafka.Transport{
		Dial:           dialer.New(dialTimeout, dialer.Silence).DialContext,
		DialTimeout:    dialTimeout,
		MetadataTTL:    metadataAge,
		MetadataTopics: topics,
		ClientID:       clientID,
		TLS:            trust,
		SASL:           credentials,
	}, nil
}

// Dialer makes the dialer of kafka.Reader and kafka.ConsumerGroup.
func (c Connection) Dialer() (*kafka.Dialer, error) {
	trust, credentials, err := c.security()
	if err != nil {
		return nil, err
	}
	return &kafka.Dialer{
		ClientID: clientID, Timeout: dialTimeout, TLS: trust, SASLMechanism: credentials,
		DialFunc: dialer.New(dialTimeout, dialer.Silence).DialContext,
	}, nil
}

// Reach is nil when a broker accepts a connection, with TLS and the password where they are configured, and answers a
// request on it: the system accepts connections for a broker that hangs.
func (c Connection) Reach(ctx context.Context) error {
	dialer, err := c.Dialer()
	if err != nil {
		return err
	}
	var errs []error
	for _, broker := range c.Brokers {
		conn, err := dialer.DialContext(ctx, "tcp", broker)
		if err == nil {
			deadline, _ := ctx.Deadline() // the zero time is none
			err = conn.SetDeadline(deadline)
			_, failed := conn.ApiVersions()
			err = errors.Join(err, failed, conn.Close())
		}
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("reach broker %s: %w", broker, err))
	}
	return errors.Join(errs...)
}

// Address returns the addresses that a kafka.Client begins with.
func (c Connection) Address() net.Addr { return kafka.TCP(c.Brokers...) }

// security returns nil, nil without TLS and without a mechanism.
func (c Connection) security() (trust *tls.Config, credentials sasl.Mechanism, err error) {
	if c.TLS {
		if trust, err = c.Trust.TLS(); err != nil {
			return nil, nil, err
		}
	}
	switch c.Mechanism {
	case "plain":
		credentials = plain.Mechanism{Username: c.Username, Password: c.Password.Reveal()}
	case "scram-sha-256":
		credentials, err = scram.Mechanism(scram.SHA256, c.Username, c.Password.Reveal())
	case "scram-sha-512":
		credentials, err = scram.Mechanism(scram.SHA512, c.Username, c.Password.Reveal())
	}
	return trust, credentials, err
}
