-- deadletters_whole: dead letters of one partition with their bytes, in the order of the log. Duplicates are one row.
SELECT
    log_topic,
    log_partition,
    log_offset,
    appended_at,
    key,
    value,
    headers.key,
    headers.value,
    reason,
    detail
FROM deadletters
WHERE log_topic = {topic:String}
  AND log_partition = {partition:Int32}
  AND log_offset IN {offsets:Array(Int64)}
ORDER BY log_offset, reason
LIMIT 1 BY log_offset
