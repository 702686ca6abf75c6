-- address_counts: the name of the organization $1, how many addresses are subscribed to its brand $2, or to all brands,
-- and how many of the organization were added within the last hour.
SELECT
    o.name,
    (
        SELECT count(*)
        FROM public.subscriptions AS s
        WHERE s.organization_id = o.id
          AND s.brand_id IS NOT DISTINCT FROM $2::uuid
          AND s.address IS NOT NULL) AS addresses,
    (
        SELECT count(*)
        FROM private.one_time_links AS l
        WHERE l.organization_id = o.id
          AND l.kind = 'confirmation'
          AND l.created_at > now() - INTERVAL '1 hour') AS last_hour
FROM public.organizations AS o
WHERE o.id = $1
