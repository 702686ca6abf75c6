package config

import (
	"errors"
	"strings"
)

// Shards are the servers of a ClickHouse cluster: addresses with credentials, those of different shards separated by a
// semicolon, the replicas of one by a comma.
type Shards struct{ Secret }

// NewShards hides what must be hidden; "" is none.
func NewShards(addresses string) Shards {
	var shards []string
	for _, replicas := range eachShard(addresses) {
		var masked []string
		for _, replica := range replicas {
			masked = append(masked, replica.Masked())
		}
		shards = append(shards, strings.Join(masked, ","))
	}
	return Shards{hide(addresses, strings.Join(shards, ";"))}
}

// eachShard are the addresses of every shard.
func eachShard(addresses string) [][]DSN {
	var shards [][]DSN
	for shard := range strings.SplitSeq(addresses, ";") {
		var replicas []DSN
		for replica := range strings.SplitSeq(shard, ",") {
			replicas = append(replicas, NewDSN(strings.TrimSpace(replica)))
		}
		shards = append(shards, replicas)
	}
	return shards
}

// encrypted tells whether all servers are reached over TLS.
func (s Shards) encrypted() bool {
	for _, replicas := range eachShard(s.Reveal()) {
		for _, replica := range replicas {
			if !replica.encrypted() {
				return false
			}
		}
	}
	return true
}

func (s Shards) validate() error {
	if !s.IsSet() {
		return nil
	}
	var errs []error
	for _, replicas := range eachShard(s.Reveal()) {
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
