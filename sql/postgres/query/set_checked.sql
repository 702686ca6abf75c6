-- set_checked: sets when platforms of a brand are asked next, and, if they were asked now, when that was.
UPDATE public.brand_platforms AS p
SET
    last_checked_at = coalesce($3, p.last_checked_at),
    next_check_at = n.next_check_at
FROM unnest($1::uuid[], $2::timestamptz[]) AS n (id, next_check_at)
WHERE p.id = n.id
