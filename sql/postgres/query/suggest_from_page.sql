-- suggest_from_page: stores what a brand's home page states, $2 at $3, as new suggestions. They do not expire. One
-- that exists stays as it is, dismissed too.
INSERT INTO public.suggestions (
    brand_id, kind, key, text, reason, evidence, origin, computed_at, created_at, updated_at
)
SELECT
    $1::uuid,
    kind,
    key,
    text,
    reason,
    evidence || '{"v": 1}',
    'computed',
    $3::timestamptz,
    $3::timestamptz,
    $3::timestamptz
FROM jsonb_to_recordset($2::jsonb) AS page (kind text, key text, text text, reason text, evidence jsonb)
ORDER BY kind, key
ON CONFLICT (brand_id, kind, key) WHERE key <> '' DO NOTHING
