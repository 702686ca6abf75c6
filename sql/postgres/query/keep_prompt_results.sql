-- keep_prompt_results: keeps results whose brand and prompt are there. A row that is
-- there is only changed when $24 says so, by a newer reading, and then its reading alone.
--
-- What a row hangs on is held while it is written, and none of it is waited for: a
-- deletion on its way to these rows would wait for this statement in turn. One that
-- is under way makes this statement fail, to be tried again.
WITH organizations AS MATERIALIZED (
    SELECT o.id
    FROM public.organizations AS o
    WHERE o.id = ANY ($4::uuid[])
    FOR KEY SHARE NOWAIT
),
brands AS MATERIALIZED (
    SELECT
        b.id,
        b.organization_id
    FROM public.brands AS b
    JOIN organizations AS o ON o.id = b.organization_id
    WHERE b.id = ANY ($3::uuid[])
    FOR KEY SHARE OF b NOWAIT
),
prompts AS MATERIALIZED (
    SELECT
        p.id,
        p.brand_id,
        p.organization_id
    FROM public.prompts AS p
    JOIN brands AS b ON (b.id, b.organization_id) = (p.brand_id, p.organization_id)
    WHERE p.id = ANY ($2::uuid[])
    FOR KEY SHARE OF p NOWAIT
),
live AS MATERIALIZED (
    SELECT given.*
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[],
        $12::int[], $13::int[], $14::int[], $15::text[], $16::int[], $17::text[], $18::text[], $19::uuid[], $20::bigint[], $21::int[], $22::timestamptz[]
    ) AS given (
        id, prompt_id, brand_id, organization_id, platform, model_used, served_model, region, sample, response, citations,
        mention_count, citation_count, mention_position, sentiment, visibility_score, competitor_mentions, search_queries, job_id, revision, extract_version, created_at
    )
    JOIN prompts AS p ON (p.id, p.brand_id, p.organization_id) = (given.prompt_id, given.brand_id, given.organization_id)
),
-- An old one is kept only as its pair's newest.
current AS (
    SELECT *
    FROM live
    WHERE created_at >= $23::timestamptz
       OR NOT EXISTS (
              SELECT
              FROM public.prompt_results AS newer
              WHERE newer.prompt_id = live.prompt_id
                AND newer.platform = live.platform
                AND (newer.created_at, newer.id) > (live.created_at, live.id))
      AND NOT EXISTS (
              SELECT
              FROM live AS newer
              WHERE newer.prompt_id = live.prompt_id
                AND newer.platform = live.platform
                AND (newer.created_at, newer.id) > (live.created_at, live.id))
),
kept AS (
    INSERT INTO public.prompt_results AS there (
        id, prompt_id, brand_id, organization_id, platform, model_used, served_model, region, sample, response, citations,
        mention_count, citation_count, mention_position, sentiment, visibility_score, competitor_mentions, search_queries, job_id, revision, extract_version, created_at
    )
    SELECT
        id, prompt_id, brand_id, organization_id, platform, model_used, nullif(served_model, ''), region, sample, response, citations::jsonb,
        mention_count, citation_count, nullif(mention_position, 0), sentiment, visibility_score, competitor_mentions::jsonb, search_queries::jsonb,
        nullif(job_id, '00000000-0000-0000-0000-000000000000'), revision, extract_version, created_at
    FROM current
    ORDER BY id -- two that write the same rows wait for each other in one order
    ON CONFLICT (id) DO UPDATE
    SET citations = excluded.citations,
        mention_count = excluded.mention_count,
        citation_count = excluded.citation_count,
        mention_position = excluded.mention_position,
        sentiment = excluded.sentiment,
        visibility_score = excluded.visibility_score,
        competitor_mentions = excluded.competitor_mentions,
        revision = excluded.revision,
        extract_version = excluded.extract_version
    WHERE $24::bool
      AND there.brand_id = excluded.brand_id
      AND (there.revision, there.extract_version) < (excluded.revision, excluded.extract_version)
    RETURNING xmax = 0 AS is_new
)
SELECT
    (SELECT count(*) FROM live) AS live,
    (SELECT count(*) FROM current) AS current,
    count(*) FILTER (WHERE is_new) AS added,
    count(*) FILTER (WHERE NOT is_new) AS changed
FROM kept
