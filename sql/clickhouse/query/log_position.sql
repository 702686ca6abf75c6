-- log_position: the largest offset of a partition that has landed; no row if none has.
SELECT max(last_offset) AS last_offset
FROM log_progress
WHERE log_topic = {topic:String}
  AND log_partition = {partition:Int32}
HAVING count() > 0
