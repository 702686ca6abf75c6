-- last_visits: the visits that landed from a range of offsets of one partition, in their order on the log.
SELECT
    organization_id,
    brand_id,
    id
FROM visits
WHERE log_topic = {topic:String}
  AND log_partition = {partition:Int32}
  AND log_offset >= {from:Int64}
  AND log_offset < {below:Int64}
ORDER BY log_offset
