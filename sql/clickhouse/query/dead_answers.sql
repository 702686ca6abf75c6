-- dead_answers: which of some brands' answers are dead letters, by the ids in their bytes.
SELECT DISTINCT
    key,
    toUUIDOrZero(JSONExtractString(value, 'id')) AS id
FROM deadletters
WHERE key IN {brands:Array(String)}
  AND id IN {ids:Array(UUID)}
