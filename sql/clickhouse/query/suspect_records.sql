-- suspect_records: records for which rollups of a month may be wrong until that month is found right.
-- A refused record is refused by one table or view after others have taken it. It is suspect since it became a dead letter, which is the
-- last thing that is done with it. A late one is the first of a batch that some rollups may have taken before and some not.
SELECT
    landing,
    month,
    log_topic,
    log_partition,
    log_offset
FROM deadletter_marks
WHERE mark != 'refused'
   OR (log_topic, log_partition, log_offset) IN (SELECT log_topic, log_partition, log_offset FROM deadletters WHERE reason = 'refused')
GROUP BY landing, month, log_topic, log_partition, log_offset
HAVING countIf(mark IN ('refused', 'late')) > 0 AND countIf(mark = 'reconciled') = 0
ORDER BY landing, month, log_topic, log_partition, log_offset
