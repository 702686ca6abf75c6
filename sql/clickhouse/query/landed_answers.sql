-- landed_answers: the answers of a list that have landed, with their newest reading, and how often each is counted.
-- That is once, or 0 times if its first row was lost with a broken part.
-- Rows of one partition at or after offset below are hidden: a replayed batch must find the same rows as its first attempt.
-- days has every day from an id's own to two days later, so that the primary key finds the rows.
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
