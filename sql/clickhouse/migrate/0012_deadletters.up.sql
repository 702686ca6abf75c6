-- Records that cannot be counted, byte for byte. deadletter_marks has a row for each later event of such a record.
CREATE TABLE IF NOT EXISTS deadletters
(
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log',
    appended_at     DateTime64(3, 'UTC') COMMENT 'time of the record on the log',
    key             String COMMENT 'key of the record, empty: none',
    value           String COMMENT 'value of the record' CODEC(ZSTD(1)),
    reason          LowCardinality(String) COMMENT 'why it is not counted: malformed or month frozen',
    detail          String COMMENT 'the reason in full',
    `headers.key`   Array(String) COMMENT 'keys of its headers',
    `headers.value` Array(String) COMMENT 'values of its headers'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Records of the log that are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletter_marks
(
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log',
    mark            LowCardinality(String) COMMENT 'suspect: first of a batch that was repeated, reconciled: its month was reconciled since, replayed: it was appended again',
    landing         LowCardinality(String) COMMENT 'landing table of the row, of suspect and reconciled',
    month           UInt32 COMMENT 'month of the row as 202603, of suspect and reconciled',
    at              DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = MergeTree
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'What became of dead letters, and of repeated batches.';
