-- frozen_before: the first day of the first month of a topic that is not frozen; null when none is frozen.
SELECT (max(month) + interval '1 month')::date AS before
FROM private.frozen_months
WHERE topic = $1
