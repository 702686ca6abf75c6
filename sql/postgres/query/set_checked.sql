-- set_checked: sets the next check of platforms, and of brands on the default platforms, and the time of their last one
-- unless it is null.
WITH next AS (
    SELECT
        id::uuid AS id,
        at::timestamptz AS at
    FROM jsonb_each_text($1::jsonb) AS n (id, at)
), defaults AS (
    INSERT INTO private.default_checks AS d (brand_id, last_checked_at, next_check_at)
    SELECT b.id, $2, n.at
    FROM next AS n
    JOIN public.brands AS b ON b.id = n.id
    ON CONFLICT (brand_id) DO UPDATE
    SET
        last_checked_at = coalesce($2, d.last_checked_at),
        next_check_at = excluded.next_check_at
)
UPDATE public.brand_platforms AS p
SET
    last_checked_at = coalesce($2, p.last_checked_at),
    next_check_at = n.at
FROM next AS n
WHERE p.id = n.id
