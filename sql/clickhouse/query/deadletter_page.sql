-- deadletter_page: dead letters after a position of the log, in its order, without their bytes. Duplicates are one row.
-- An empty list filters nothing; dates are days of appended_at, and '' is no limit.
SELECT
    log_topic,
    log_partition,
    log_offset,
    appended_at,
    key,
    length(key) + length(value) AS bytes,
    reason,
    detail
FROM deadletters
WHERE log_topic >= {after_topic:String}
  AND (log_topic, log_partition, log_offset) > ({after_topic:String}, {after_partition:Int32}, {after_offset:Int64})
  AND answerscope_matches({topics:Array(String)}, log_topic)
  AND answerscope_matches({partitions:Array(Int32)}, log_partition)
  AND answerscope_matches({offsets:Array(Int64)}, log_offset)
  AND answerscope_matches({reasons:Array(String)}, reason)
  AND ({date_from:String} = '' OR appended_at >= parseDateTime64BestEffort(if({date_from:String} = '', '1970-01-01', {date_from:String}), 3, 'UTC'))
  AND ({date_to:String} = '' OR appended_at < parseDateTime64BestEffort(if({date_to:String} = '', '1970-01-01', {date_to:String}), 3, 'UTC') + INTERVAL 1 DAY)
ORDER BY log_topic, log_partition, log_offset, reason
LIMIT 1 BY log_topic, log_partition, log_offset
LIMIT {limit:UInt32}
