-- request_rereads: requests a reread of one brand, or of all of an organization, or of all, now. $3 and $4 are its
-- days, null for all. An earlier request that is not finished is widened to these days.
INSERT INTO private.rereads AS r (brand_id, organization_id, urgent, asked_at, due_at, first_day, last_day)
SELECT b.id, b.organization_id, true, clock_timestamp(), clock_timestamp(), $3::date, $4::date
FROM public.brands AS b
WHERE ($1::uuid IS NULL OR b.organization_id = $1)
  AND ($2::uuid IS NULL OR b.id = $2)
ORDER BY b.id
ON CONFLICT (brand_id) DO UPDATE SET
    urgent = true,
    asked_at = coalesce(r.asked_at, excluded.asked_at),
    due_at = excluded.due_at,
    first_day = CASE WHEN r.due_at IS NOT NULL AND (r.first_day < excluded.first_day OR r.first_day IS NULL) THEN r.first_day ELSE excluded.first_day END,
    last_day = CASE WHEN r.due_at IS NOT NULL AND (r.last_day > excluded.last_day OR r.last_day IS NULL) THEN r.last_day ELSE excluded.last_day END
