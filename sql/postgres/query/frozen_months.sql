-- frozen_months: which of the months of a topic are frozen, each by its first day.
SELECT month
FROM private.frozen_months
WHERE topic = $1
  AND month = ANY ($2::date[])
ORDER BY month
