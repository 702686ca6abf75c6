-- suspect_records: refused records of which a part of the figures may still be in the rollups of their month.
-- A record is refused by one table or view after others have taken it. It stays here until its month was found right since
-- it became a dead letter, which is the last thing that is done with its batch.
SELECT
    landing,
    month,
    log_topic,
    log_partition,
    log_offset
FROM deadletter_marks
WHERE (log_topic, log_partition, log_offset) IN (SELECT log_topic, log_partition, log_offset FROM deadletters WHERE reason = 'refused')
GROUP BY landing, month, log_topic, log_partition, log_offset
HAVING countIf(mark = 'refused') > 0 AND countIf(mark = 'reconciled') = 0
ORDER BY landing, month, log_topic, log_partition, log_offset
