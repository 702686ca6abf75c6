-- Queries with their user, time, address and cost. The table outlives the engine, whose database system is in memory.
CREATE DATABASE IF NOT EXISTS audit ENGINE = Atomic;

SYSTEM FLUSH LOGS query_log;

CREATE TABLE IF NOT EXISTS audit.query_log
(
    event_date Date,
    event_time DateTime64(6, 'UTC'),
    type LowCardinality(String),
    user LowCardinality(String),
    address IPv6,
    client LowCardinality(String),
    query_id String,
    current_database LowCardinality(String),
    query String CODEC(ZSTD),
    log_comment LowCardinality(String),
    exception_code Int32,
    exception String,
    query_duration_ms UInt64,
    read_rows UInt64,
    read_bytes UInt64,
    result_rows UInt64,
    memory_usage UInt64
)
ENGINE = MergeTree
PARTITION BY event_date
ORDER BY event_time
TTL event_date + INTERVAL 30 DAY DELETE
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS audit.query_log_view TO audit.query_log AS
SELECT
    event_date,
    event_time_microseconds AS event_time,
    type,
    user,
    address,
    if(client_name = '', http_user_agent, client_name) AS client,
    query_id,
    current_database,
    query,
    log_comment,
    exception_code,
    exception,
    query_duration_ms,
    read_rows,
    read_bytes,
    result_rows,
    memory_usage
FROM system.query_log;
