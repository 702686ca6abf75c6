-- access_log: the newest $1 lines of the access log, the newest first.
SELECT
    a.at,
    a.actor,
    coalesce(host(a.address), '') AS address,
    a.change,
    coalesce(o.slug, a.organization_id::text, '') AS organization,
    a.subject
FROM private.access_log AS a
LEFT JOIN public.organizations AS o ON o.id = a.organization_id
ORDER BY a.id DESC
LIMIT $1::int
