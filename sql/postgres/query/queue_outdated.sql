-- queue_outdated: queues the brands among $1 whose oldest reading ($2, $3) is older than their revision and extractor
-- $4. Brands that are queued stay as they are; a brand whose last reread left answers over is not queued again for a
-- day, since they would fail again.
INSERT INTO private.rereads AS r (brand_id, organization_id, urgent, asked_at, due_at)
SELECT b.id, b.organization_id, false, clock_timestamp(), clock_timestamp()
FROM unnest($1::uuid[], $2::bigint[], $3::int[]) AS outdated (brand_id, revision, extract_version)
JOIN public.brands AS b ON b.id = outdated.brand_id
WHERE (outdated.revision, outdated.extract_version) < (b.revision, $4::int)
ORDER BY b.id
ON CONFLICT (brand_id) DO UPDATE SET
    urgent = false,
    asked_at = excluded.asked_at,
    due_at = excluded.due_at,
    first_day = NULL,
    last_day = NULL
WHERE r.due_at IS NULL
  AND (r.last_error IS NULL OR r.finished_at < clock_timestamp() - INTERVAL '20 hours')
