-- store_prompt_results: stores results whose brand and prompt exist. An existing row changes only if $3 is set and the
-- reading is newer, and then only in its reading.
--
-- It locks the rows that a result refers to without waiting, because a deletion of these rows would wait for this
-- statement in turn. During such a deletion it fails, and is retried.
WITH input AS MATERIALIZED (
    SELECT *
    FROM json_populate_recordset(NULL::public.prompt_results, $1::json)
),
organizations AS MATERIALIZED (
    SELECT o.id
    FROM public.organizations AS o
    WHERE o.id = ANY (ARRAY(SELECT organization_id FROM input))
    FOR KEY SHARE NOWAIT
),
brands AS MATERIALIZED (
    SELECT
        b.id,
        b.organization_id
    FROM public.brands AS b
    JOIN organizations AS o ON o.id = b.organization_id
    WHERE b.id = ANY (ARRAY(SELECT brand_id FROM input))
    FOR KEY SHARE OF b NOWAIT
),
prompts AS MATERIALIZED (
    SELECT
        p.id,
        p.brand_id,
        p.organization_id
    FROM public.prompts AS p
    JOIN brands AS b ON (b.id, b.organization_id) = (p.brand_id, p.organization_id)
    WHERE p.id = ANY (ARRAY(SELECT prompt_id FROM input))
    FOR KEY SHARE OF p NOWAIT
),
live AS MATERIALIZED (
    SELECT input.*
    FROM input
    JOIN prompts AS p ON (p.id, p.brand_id, p.organization_id) = (input.prompt_id, input.brand_id, input.organization_id)
),
-- An old result is stored only if it is the newest of its prompt and platform.
current AS (
    SELECT *
    FROM live
    WHERE created_at >= $2::timestamptz
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
stored AS (
    INSERT INTO public.prompt_results AS existing (
        id, prompt_id, brand_id, organization_id, platform, model_used, served_model, provider, region, sample, finish, response, citations,
        mention_count, citation_count, mention_position, sentiment, visibility_score, competitor_mentions, search_queries, job_id, revision, extract_version, created_at
    )
    SELECT
        id, prompt_id, brand_id, organization_id, platform, model_used, nullif(served_model, ''), nullif(provider, ''), region, sample, nullif(finish, ''), response, coalesce(citations, '[]'),
        mention_count, citation_count, nullif(mention_position, 0), sentiment, CASE WHEN finish = 'not_shown' THEN NULL ELSE visibility_score END, coalesce(competitor_mentions, '[]'), coalesce(search_queries, '[]'),
        nullif(job_id, '00000000-0000-0000-0000-000000000000'), revision, extract_version, created_at
    FROM current
    ORDER BY id -- two writers of the same rows lock them in one order
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
    WHERE $3::bool
      AND existing.brand_id = excluded.brand_id
      AND (existing.revision, existing.extract_version) < (excluded.revision, excluded.extract_version)
    RETURNING xmax = 0 AS is_new
)
SELECT
    (SELECT count(*) FROM live) AS live,
    (SELECT count(*) FROM current) AS current,
    count(*) FILTER (WHERE is_new) AS added,
    count(*) FILTER (WHERE NOT is_new) AS changed
FROM stored
