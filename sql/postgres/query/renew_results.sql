-- renew_results: updates the readings of results where the given ones are newer.
UPDATE public.prompt_results AS there
SET citations = coalesce(given.citations, '[]'),
    mention_count = given.mention_count,
    citation_count = given.citation_count,
    mention_position = nullif(given.mention_position, 0),
    sentiment = given.sentiment,
    visibility_score = given.visibility_score,
    competitor_mentions = coalesce(given.competitor_mentions, '[]'),
    revision = given.revision,
    extract_version = given.extract_version
FROM json_populate_recordset(NULL::public.prompt_results, $1::json) AS given
WHERE there.id = given.id
  AND there.brand_id = given.brand_id
  AND (there.revision, there.extract_version) < (given.revision, given.extract_version)
