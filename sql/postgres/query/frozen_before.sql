-- frozen_before: the first day of a topic that no frozen month holds, of its first open month; null when none is
-- frozen.
SELECT (max(month) + interval '1 month')::date AS before
FROM private.frozen_months
WHERE topic = $1
