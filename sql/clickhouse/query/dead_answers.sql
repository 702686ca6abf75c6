-- dead_answers: the answers of some brands that are dead letters, by the ids in their bytes.
SELECT DISTINCT
    key,
    toUUIDOrZero(JSONExtractString(value, 'id')) AS id
FROM deadletters
WHERE key IN {brands:Array(String)}
  AND id IN {ids:Array(UUID)}
