-- Records that could not be read, byte for byte, with the reason.
CREATE TABLE IF NOT EXISTS deadletters
(
    log_topic       LowCardinality(String),
    log_partition   Int32,
    log_offset      Int64,
    appended_at     DateTime64(3, 'UTC') COMMENT 'the record''s time on the log',
    key             String,
    value           String CODEC(ZSTD(1)),
    reason          LowCardinality(String),
    detail          String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_deadletters_view TO log_progress AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM deadletters
GROUP BY log_topic, log_partition;
