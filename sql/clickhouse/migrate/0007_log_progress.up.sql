-- The largest offset that has landed, by topic and partition: where a consumer
-- goes on when the broker has forgotten its group, and what tells that a log
-- was replaced. A record lands in answers or in deadletters, whose view is beside it.
CREATE TABLE IF NOT EXISTS log_progress
(
    log_topic       LowCardinality(String),
    log_partition   Int32,
    last_offset     SimpleAggregateFunction(max, Int64)
)
ENGINE = AggregatingMergeTree
ORDER BY (log_topic, log_partition)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_answers_view TO log_progress AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM answers
GROUP BY log_topic, log_partition;
