-- set_checked: sets the next check of platforms, and the time of their last one unless it is null.
UPDATE public.brand_platforms AS p
SET
    last_checked_at = coalesce($2, p.last_checked_at),
    next_check_at = n.at::timestamptz
FROM jsonb_each_text($1::jsonb) AS n (id, at)
WHERE p.id = n.id::uuid
