-- briefed_suggestion: a suggestion whose organization has the user of the claims $1 as a member who may write, and the themes of criticism of its
-- brand that hold. A person's evidence may be any JSON, so it is left out.
SELECT
    s.brand_id,
    s.kind,
    s.key,
    s.text,
    coalesce(s.reason, '') AS reason,
    CASE s.origin WHEN 'computed' THEN s.evidence ELSE '{}' END AS evidence,
    ARRAY(
        SELECT t.text
        FROM public.suggestions AS t
        WHERE t.brand_id = s.brand_id AND t.kind = 'theme' AND t.status <> 'dismissed' AND (t.expires_at > now() OR t.expires_at IS NULL)
        ORDER BY t.score DESC NULLS LAST, t.key, t.id
        LIMIT 10
    ) AS themes
FROM public.suggestions AS s
JOIN public.members AS m ON m.organization_id = s.organization_id
WHERE m.user_id = ($1::jsonb ->> 'sub')::uuid
  AND m.role <> 'viewer'
  AND s.id = $2
