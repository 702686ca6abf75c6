-- briefed_suggestion: a suggestion of an organization, and the themes of criticism of its brand that hold.
SELECT
    s.brand_id,
    s.kind,
    s.text,
    coalesce(s.reason, '') AS reason,
    s.evidence,
    ARRAY(
        SELECT t.text
        FROM public.suggestions AS t
        WHERE t.brand_id = s.brand_id AND t.kind = 'theme' AND t.status <> 'dismissed' AND (t.expires_at > now() OR t.expires_at IS NULL)
        ORDER BY t.created_at, t.id
        LIMIT 10
    ) AS themes
FROM public.suggestions AS s
WHERE s.organization_id = $1 AND s.id = $2
