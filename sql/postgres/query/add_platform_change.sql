-- add_platform_change: adds the day on which a platform changed, or raises what is stored of it.
INSERT INTO private.platform_changes AS stored (platform, day, e_value, judged_on)
VALUES ($1, $2, $3, $4)
ON CONFLICT (platform, day) DO UPDATE
SET
    e_value = greatest(stored.e_value, excluded.e_value),
    judged_on = greatest(stored.judged_on, excluded.judged_on)
