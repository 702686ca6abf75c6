-- landed_answers: which of the given answers have landed, the newest reading of each, and how often it is counted.
-- That is once, or not at all where its first row was lost with a broken part.
-- Rows at or after offset below of the asking partition are not seen: a batch that is replayed must find what it found first.
-- days holds every day from an id's own to two days later, so that the primary key leads to the rows.
WITH maxIf((answers.revision, answers.extract_version), sign = 1) AS newest
SELECT
    organization_id,
    brand_id,
    id,
    newest.1 AS revision,
    newest.2 AS extract_version,
    sum(sign) AS counted
FROM answers
WHERE organization_id IN {organizations:Array(UUID)}
  AND brand_id IN {brands:Array(UUID)}
  AND day IN {days:Array(Date)}
  AND id IN {ids:Array(UUID)}
  AND NOT (log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {below:Int64})
GROUP BY organization_id, brand_id, id
