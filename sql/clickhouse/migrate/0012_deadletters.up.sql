-- A record that cannot be counted is kept whole. What became of it since is in deadletter_marks: a row is added for
-- everything that happens to it, and none is ever changed.
CREATE TABLE IF NOT EXISTS deadletters
(
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition',
    appended_at     DateTime64(3, 'UTC') COMMENT 'the record''s time on the log',
    key             String COMMENT 'of the record, as it came, empty: none',
    value           String COMMENT 'of the record, as it came' CODEC(ZSTD(1)),
    reason          LowCardinality(String) COMMENT 'why it is not in the landing table: malformed or month frozen',
    detail          String COMMENT 'the reason in full',
    `headers.key`   Array(String) COMMENT 'keys of its headers, as they came',
    `headers.value` Array(String) COMMENT 'values of its headers, as they came'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletter_marks
(
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition',
    mark            LowCardinality(String) COMMENT 'expired: the first of a batch whose plan had expired when it was inserted, reconciled: the figures of the month were found right since, replayed: it was appended again',
    landing         LowCardinality(String) COMMENT 'landing table that its row is for, of expired and reconciled',
    month           UInt32 COMMENT 'month of its row as 202603, of expired and reconciled',
    at              DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = MergeTree
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What became of records that are dead letters, or are about to be, and of batches whose plan had expired.';
