-- The largest offset that has landed, by topic and partition. A consumer continues after it when the broker has
-- forgotten its group, and recognizes a replaced log by it. Dead letters have no view, so the sink inserts their offset
-- itself.
CREATE TABLE IF NOT EXISTS log_progress
(
    log_topic     LowCardinality(String),
    log_partition Int32,
    last_offset   SimpleAggregateFunction(max, Int64)
)
ENGINE = AggregatingMergeTree
ORDER BY (log_topic, log_partition)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_answers_view TO log_progress AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM answers
GROUP BY log_topic, log_partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_visits_view TO log_progress AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM visits
GROUP BY log_topic, log_partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_crawls_view TO log_progress AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM crawls
GROUP BY log_topic, log_partition;
