-- deadletter_ends: the last dead letter of each partition.
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS log_offset
FROM deadletters
GROUP BY log_topic, log_partition
ORDER BY log_topic, log_partition
