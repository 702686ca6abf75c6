-- landed_crawls: which of the given crawls have landed.
-- Rows at or after offset below of the asking partition are not seen: a batch that is replayed must find what it found first.
-- days and times hold those in the ids, so that the primary key leads to the rows.
SELECT DISTINCT
    organization_id,
    brand_id,
    id
FROM crawls
WHERE organization_id IN {organizations:Array(UUID)}
  AND brand_id IN {brands:Array(UUID)}
  AND day IN {days:Array(Date)}
  AND toUInt64(bitShiftRight(toUInt128(id), 80)) IN {times:Array(UInt64)}
  AND id IN {ids:Array(UUID)}
  AND NOT (log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {below:Int64})
