-- queue_outdated: queues the brands among $1 whose oldest reading is older than their revision and the extractor $2.
-- Queued brands stay unchanged; a brand whose last reread left answers over is not queued again for a day, since they
-- would fail again.
INSERT INTO private.rereads AS r (brand_id, organization_id, urgent, asked_at, due_at)
SELECT b.id, b.organization_id, false, clock_timestamp(), clock_timestamp()
FROM jsonb_to_recordset($1::jsonb) AS outdated (brand_id uuid, revision bigint, extract_version int)
JOIN public.brands AS b ON b.id = outdated.brand_id
WHERE (outdated.revision, outdated.extract_version) < (b.revision, $2::int)
ORDER BY b.id
ON CONFLICT (brand_id) DO UPDATE SET
    urgent = false,
    asked_at = excluded.asked_at,
    due_at = excluded.due_at,
    first_day = NULL,
    last_day = NULL
WHERE r.due_at IS NULL
  AND (r.last_error IS NULL OR r.finished_at < clock_timestamp() - INTERVAL '20 hours')
