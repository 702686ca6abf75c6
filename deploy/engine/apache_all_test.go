//go:build all

package engine

import "testing"

// Only tests start an Apache Kafka, which takes as long as the other engines together.
func init() {
	stores["apache"] = func(t *testing.T, dir string) (store, error) {
		e, err := StartApacheKafka(t.Context(), ApacheKafkaConfig{Dir: dir, Log: quiet})
		return kafkaStore{broker: e}, err
	}
}
