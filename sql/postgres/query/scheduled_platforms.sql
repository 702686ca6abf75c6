-- scheduled_platforms: the platforms of brands, of all, an organization $1 or a brand $2: those of the schedule that may
-- be due, or all. A brand without platforms has one row without a platform, for the default ones: daily, the first time
-- an hour after its first prompt, so that it can be set up before.
WITH listed AS (
    SELECT
        coalesce(p.id, b.id) AS id,
        coalesce(p.platform, '') AS platform,
        coalesce(p.model, '') AS model,
        coalesce(p.check_frequency, 'daily') AS check_frequency,
        coalesce(p.last_checked_at, d.last_checked_at) AS last_checked_at,
        coalesce(p.next_check_at, d.next_check_at, f.at) AS next_check_at,
        b.id AS brand_id,
        b.organization_id,
        o.time_zone,
        CASE
            WHEN NOT b.is_active THEN 'the brand is inactive'
            WHEN NOT p.is_enabled OR p.check_frequency = 'manual' THEN 'its platforms are paused or manual'
            WHEN coalesce(p.id, d.brand_id) IS NULL AND f.at IS NULL THEN 'it has no active prompt'
            ELSE ''
        END AS not_due
    FROM public.brands AS b
    JOIN public.organizations AS o ON o.id = b.organization_id
    LEFT JOIN public.brand_platforms AS p ON p.brand_id = b.id
    LEFT JOIN private.default_checks AS d ON d.brand_id = b.id AND p.id IS NULL
    LEFT JOIN LATERAL (
        SELECT min(q.created_at) + INTERVAL '1 hour' AS at
        FROM public.prompts AS q
        JOIN public.prompt_sets AS s ON s.id = q.prompt_set_id
        WHERE q.brand_id = b.id
          AND q.is_active
          AND s.is_active
    ) AS f ON p.id IS NULL AND d.brand_id IS NULL
    WHERE ($1::uuid IS NULL OR b.organization_id = $1)
      AND ($2::uuid IS NULL OR b.id = $2)
)
SELECT
    id,
    platform,
    model,
    check_frequency,
    last_checked_at,
    brand_id,
    organization_id,
    time_zone,
    not_due
FROM listed
WHERE $3::bool
   OR not_due = '' AND (next_check_at IS NULL OR next_check_at <= $4)
ORDER BY brand_id, platform, model
