-- audit_log: the newest $1 lines of the audit log, newest first.
SELECT
    a.at,
    s.actor,
    coalesce(host(s.address), '') AS address,
    a.action,
    coalesce(o.slug, a.organization_id::text, '') AS organization,
    a.subject
FROM public.audit_log AS a
JOIN private.audit_origins AS s ON s.audit_id = a.id
LEFT JOIN public.organizations AS o ON o.id = a.organization_id
ORDER BY
    a.at DESC,
    a.id
LIMIT $1::int
