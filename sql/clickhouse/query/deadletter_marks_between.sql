-- deadletter_marks_between: the marks of the records from one position of the log to another, both included.
SELECT
    log_topic,
    log_partition,
    log_offset,
    mark,
    landing,
    month,
    at
FROM deadletter_marks
WHERE log_topic BETWEEN {from_topic:String} AND {to_topic:String}
  AND (log_topic, log_partition, log_offset) >= ({from_topic:String}, {from_partition:Int32}, {from_offset:Int64})
  AND (log_topic, log_partition, log_offset) <= ({to_topic:String}, {to_partition:Int32}, {to_offset:Int64})
ORDER BY log_topic, log_partition, log_offset, at
