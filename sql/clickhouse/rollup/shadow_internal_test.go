package rollup

import "testing"

// The engines as a server writes them, and those of their copies in a shadow schema.
func TestAShadowIsOfOneServer(t *testing.T) {
	t.Parallel()
	for full, want := range map[string]string{
		"MergeTree PARTITION BY toYYYYMM(day) ORDER BY id SETTINGS non_replicated_deduplication_window = 50000, " +
			"fsync_after_insert = 1": "MergeTree PARTITION BY toYYYYMM(day) ORDER BY id SETTINGS " +
			"non_replicated_deduplication_window = 0, fsync_after_insert = 1",
		"MergeTree ORDER BY id TTL day + toIntervalMonth(3) SETTINGS ttl_only_drop_parts = " +
			"1": "MergeTree ORDER BY id SETTINGS ttl_only_drop_parts = 1",
		"ReplicatedMergeTree('/tables/{shard}/answers', '{replica}') ORDER BY id SETTINGS " +
			"replicated_deduplication_window = 50000": "MergeTree() ORDER BY id SETTINGS " +
			"replicated_deduplication_window = 50000",
		"ReplicatedSummingMergeTree('/t', 'r', (a, b)) ORDER BY id SETTINGS index_granularity = " +
			"8192": "SummingMergeTree((a, b)) ORDER BY id SETTINGS " +
			"index_granularity = 8192",
		"ReplicatedAggregatingMergeTree ORDER BY id SETTINGS index_granularity = " +
			"8192": "AggregatingMergeTree ORDER BY id SETTINGS " +
			"index_granularity = 8192",
		"SummingMergeTree((a, b)) ORDER BY id SETTINGS index_granularity = " +
			"8192": "SummingMergeTree((a, b)) ORDER BY id " +
			"SETTINGS index_granularity = 8192",
	} {
		if got := shadowEngine(full); got != want {
			t.Errorf("shadow of %s is\n%s, want\n%s", full, got, want)
		}
	}
}
