-- end_mail: stores how an attempt of a mail ended: its status now, and the seconds until the next attempt. A mail server
-- that refuses three mails of a subscription in a row, since it was started, stops it.
WITH ended AS (
    UPDATE private.mails
    SET
        holder = NULL,
        leased_until = NULL,
        status = $3,
        next_attempt_at = clock_timestamp() + make_interval(secs => $4),
        response_status = nullif($5::int, 0),
        duration_ms = $6,
        error = nullif(left($7, 200), ''),
        delivered_at = CASE WHEN $3 = 'delivered' THEN clock_timestamp() END,
        sealed = CASE WHEN $3 = 'pending' THEN sealed END
    WHERE id = $1
      AND holder = $2
      AND status = 'pending'
    RETURNING subscription_id
), subscription AS (
    UPDATE public.subscriptions AS s
    SET
        last_sent_at = CASE WHEN $3 = 'delivered' THEN clock_timestamp() ELSE s.last_sent_at END,
        stopped_at = CASE WHEN refused.count = 2 THEN clock_timestamp() ELSE s.stopped_at END,
        stopped_reason = CASE WHEN refused.count = 2 THEN 'refused' ELSE s.stopped_reason END
    FROM ended
    CROSS JOIN LATERAL (
        SELECT count(*)
        FROM (SELECT m.response_status
              FROM private.mails AS m
              JOIN public.subscriptions AS b ON b.id = m.subscription_id
              WHERE m.subscription_id = ended.subscription_id
                AND m.id <> $1
                AND m.created_at >= b.started_at
                AND m.status IN ('delivered', 'failed')
              ORDER BY m.created_at DESC
              LIMIT 2) AS previous
        WHERE response_status >= 500
          AND $5 >= 500
    ) AS refused
    WHERE s.id = ended.subscription_id
)
SELECT FROM ended
