-- store_suggestions: stores the suggestions $2 of a brand, computed at $3 over the window $4. Unchanged rows stay as they
-- are. Status is a person's decision, with two exceptions. A dismissed row is new again after 90 days if its score is at
-- least twice as high. An added name is new again if it is found, since the rule finds only names that nobody tracks.
INSERT INTO public.suggestions AS s (
    brand_id, kind, key, text, reason, score, evidence, origin, computed_at, expires_at, created_at, updated_at
)
SELECT
    $1::uuid,
    kind,
    key,
    text,
    nullif(reason, ''),
    score,
    evidence || jsonb_build_object('v', 1, 'window', $4::jsonb),
    'computed',
    $3::timestamptz,
    $3::timestamptz + INTERVAL '14 days',
    $3::timestamptz,
    $3::timestamptz
FROM jsonb_to_recordset($2::jsonb) AS found (kind text, key text, text text, reason text, score numeric, evidence jsonb)
ORDER BY kind, score DESC, key
ON CONFLICT (brand_id, kind, key) WHERE key <> '' DO UPDATE SET
    status = CASE WHEN s.status = 'added' AND s.kind <> 'competitor' THEN 'added' ELSE 'new' END,
    text = excluded.text,
    reason = excluded.reason,
    score = excluded.score,
    evidence = excluded.evidence,
    computed_at = excluded.computed_at,
    expires_at = excluded.expires_at
WHERE CASE s.status
          WHEN 'dismissed' THEN
              s.dismissed_at <= $3::timestamptz - INTERVAL '90 days' AND excluded.score >= 2 * s.dismissed_score
          ELSE
              (s.text, s.reason, s.score, s.evidence) IS DISTINCT FROM (excluded.text, excluded.reason, excluded.score, excluded.evidence)
              OR s.kind = 'competitor' AND s.status = 'added'
              OR s.expires_at IS NULL
              OR s.expires_at <= $3::timestamptz
      END
