package config

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Shards are the servers of a ClickHouse cluster: addresses with credentials, those of different shards apart by a
// semicolon, the replicas of one by a comma. Passwords do not show themselves.
type Shards struct{ addresses Secret }

// NewShards hides what must be hidden; "" is none.
func NewShards(addresses string) Shards { return Shards{NewSecret(addresses)} }

// Reveal returns all addresses, for the driver that connects.
func (s Shards) Reveal() string { return s.addresses.Reveal() }

// IsSet tells whether there are any.
func (s Shards) IsSet() bool { return s.addresses.IsSet() }

// each are the addresses of every shard.
func (s Shards) each() [][]DSN {
	if !s.IsSet() {
		return nil
	}
	var shards [][]DSN
	for shard := range strings.SplitSeq(s.Reveal(), ";") {
		var replicas []DSN
		for replica := range strings.SplitSeq(shard, ",") {
			replicas = append(replicas, NewDSN(strings.TrimSpace(replica)))
		}
		shards = append(shards, replicas)
	}
	return shards
}

// Masked is the addresses without what is secret of each.
func (s Shards) Masked() string {
	var shards []string
	for _, replicas := range s.each() {
		var shown []string
		for _, replica := range replicas {
			shown = append(shown, replica.Masked())
		}
		shards = append(shards, strings.Join(shown, ","))
	}
	return strings.Join(shards, ";")
}

// String is Masked.
func (s Shards) String() string { return s.Masked() }

// GoString is Masked, for %#v.
func (s Shards) GoString() string { return fmt.Sprintf("config.Shards(%q)", s.Masked()) }

// Format prints Masked whatever the verb.
func (s Shards) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.Masked()) }

// MarshalText is Masked, for JSON and everything else that asks.
func (s Shards) MarshalText() ([]byte, error) { return []byte(s.Masked()), nil }

// LogValue is Masked, for log/slog.
func (s Shards) LogValue() slog.Value { return slog.StringValue(s.Masked()) }

// encrypted tells whether all servers are spoken to over TLS.
func (s Shards) encrypted() bool {
	for _, replicas := range s.each() {
		for _, replica := range replicas {
			if !replica.encrypted() {
				return false
			}
		}
	}
	return s.IsSet()
}

func (s Shards) validate() error {
	var errs []error
	for _, replicas := range s.each() {
		for _, replica := range replicas {
			if !replica.IsSet() {
				errs = append(errs, wrong("CLICKHOUSE_SHARDS", s.Masked(), "want an address on both sides of every ; and ,"))
				continue
			}
			errs = append(errs, address("CLICKHOUSE_SHARDS", replica, "clickhouse", "http", "https"))
		}
	}
	return errors.Join(errs...)
}

// HasWarehouse tells that the warehouse runs elsewhere: on one server or on a cluster.
func (o Outside) HasWarehouse() bool { return o.ClickHouse.IsSet() || o.Shards.IsSet() }
