-- add_judged_day: notes that a brand was judged on a UTC day, unless it was before.
INSERT INTO private.judged_days (organization_id, brand_id, day, verdicts)
VALUES ($1, $2, $3::date, $4)
ON CONFLICT DO NOTHING
