-- postpone_default_check: stores that a brand cannot be asked on any default platform before a time.
INSERT INTO private.default_checks (brand_id, next_check_at)
SELECT id, $2
FROM public.brands
WHERE id = $1
ON CONFLICT (brand_id) DO UPDATE
SET
    last_checked_at = NULL,
    next_check_at = excluded.next_check_at
