-- renew_results: updates the readings of results where the given ones are newer.
UPDATE public.prompt_results AS there
SET citations = given.citations::jsonb,
    mention_count = given.mention_count,
    citation_count = given.citation_count,
    mention_position = nullif(given.mention_position, 0),
    sentiment = given.sentiment,
    visibility_score = given.visibility_score,
    competitor_mentions = given.competitor_mentions::jsonb,
    revision = given.revision,
    extract_version = given.extract_version
FROM unnest(
    $1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::int[], $6::int[], $7::text[], $8::int[], $9::text[], $10::bigint[], $11::int[]
) AS given (
    id, brand_id, citations, mention_count, citation_count, mention_position, sentiment, visibility_score, competitor_mentions, revision, extract_version
)
WHERE there.id = given.id
  AND there.brand_id = given.brand_id
  AND (there.revision, there.extract_version) < (given.revision, given.extract_version)
