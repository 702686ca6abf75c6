-- lease_mails: leases mails that are due, at most $3, for $2 seconds, the most overdue first. An attempt
-- whose process ended is repeated, and not counted again.
UPDATE private.mails AS m
SET
    holder = $1,
    leased_until = now() + make_interval(secs => $2),
    attempts = m.attempts + (m.holder IS NULL)::int
FROM (
    SELECT id
    FROM private.mails
    WHERE status = 'pending'
      AND next_attempt_at <= now()
      AND coalesce(leased_until <= now(), true)
    ORDER BY next_attempt_at
    LIMIT $3
    FOR UPDATE SKIP LOCKED
) AS due
JOIN private.mails AS leased ON leased.id = due.id
JOIN public.organizations AS o ON o.id = leased.organization_id
LEFT JOIN public.events AS v ON v.id = leased.event_id
WHERE m.id = due.id
RETURNING
    m.id,
    m.organization_id,
    o.name AS organization,
    m.subscription_id,
    m.template,
    m.recipient::text,
    m.sealed,
    m.attempts,
    m.created_at,
    v.type,
    v.at,
    v.data
