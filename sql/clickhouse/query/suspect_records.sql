-- suspect_records: the first records of repeated batches, and the months whose rollups may be wrong.
-- Some rollups may have taken the first attempt, and some not.
SELECT
    landing,
    month,
    log_topic,
    log_partition,
    log_offset
FROM deadletter_marks
GROUP BY landing, month, log_topic, log_partition, log_offset
HAVING countIf(mark = 'suspect') > 0 AND countIf(mark = 'reconciled') = 0
ORDER BY landing, month, log_topic, log_partition, log_offset
