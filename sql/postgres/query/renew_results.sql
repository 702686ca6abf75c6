-- renew_results: updates the readings of stored results that are older than those of $1.
UPDATE public.prompt_results AS stored
SET citations = coalesce(renewed.citations, '[]'),
    mention_count = renewed.mention_count,
    citation_count = renewed.citation_count,
    mention_position = nullif(renewed.mention_position, 0),
    sentiment = renewed.sentiment,
    visibility_score = CASE WHEN stored.finish = 'not_shown' THEN NULL ELSE renewed.visibility_score END,
    competitor_mentions = coalesce(renewed.competitor_mentions, '[]'),
    revision = renewed.revision,
    extract_version = renewed.extract_version
FROM json_populate_recordset(NULL::public.prompt_results, $1::json) AS renewed
WHERE stored.id = renewed.id
  AND stored.brand_id = renewed.brand_id
  AND (stored.revision, stored.extract_version) < (renewed.revision, renewed.extract_version)
