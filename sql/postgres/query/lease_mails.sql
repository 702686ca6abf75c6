-- lease_mails: leases mails that are due, at most $3, for $2 seconds, links before events, the most overdue first.
-- Mails about events are cancelled if the subscription was stopped, or the user is no active member any more. An
-- attempt whose process ended is repeated, and not counted again.
WITH due AS (
    SELECT
        m.id,
        m.event_id IS NULL OR s.stopped_at IS NULL AND (s.address IS NOT NULL OR EXISTS (
            SELECT
            FROM private.users AS u
            JOIN public.members AS r ON r.user_id = u.id
            WHERE u.email = m.recipient
              AND u.is_active
              AND r.organization_id = m.organization_id)) AS is_wanted
    FROM private.mails AS m
    LEFT JOIN public.subscriptions AS s ON s.id = m.subscription_id
    WHERE m.status = 'pending'
      AND m.next_attempt_at <= now()
      AND coalesce(m.leased_until <= now(), true)
    ORDER BY m.sealed IS NULL, m.next_attempt_at
    LIMIT $3
    FOR UPDATE OF m SKIP LOCKED
), cancelled AS (
    UPDATE private.mails AS m
    SET
        status = 'cancelled',
        holder = NULL,
        leased_until = NULL
    FROM due
    WHERE m.id = due.id
      AND NOT due.is_wanted
)
UPDATE private.mails AS m
SET
    holder = $1,
    leased_until = now() + make_interval(secs => $2),
    attempts = m.attempts + (m.holder IS NULL)::int
FROM due
JOIN private.mails AS leased ON leased.id = due.id
LEFT JOIN public.events AS v ON v.id = leased.event_id
WHERE m.id = due.id
  AND due.is_wanted
RETURNING
    m.id,
    m.subscription_id,
    m.template,
    m.recipient::text,
    m.sealed,
    m.attempts,
    v.data
