-- brands_to_advise: active brands whose suggestions are outdated, with all that these depend on: the answers of $1, the
-- names and competitors (the revision), the prompts, and the version $2 of the rules. Brands whose answers are being read
-- again, or have a reading older than by extractor $3, are left out. $4: all others, outdated or not. $5: this brand alone.
SELECT
    b.id,
    inputs.inputs
FROM public.brands AS b
LEFT JOIN jsonb_to_recordset($1::jsonb) AS landed (brand_id uuid, checksum text, revision bigint, extract_version int)
    ON landed.brand_id = b.id
CROSS JOIN LATERAL (
    SELECT jsonb_build_object(
        'landed', coalesce(landed.checksum, ''),
        'revision', b.revision,
        'prompts', (SELECT md5(string_agg(concat_ws('/', p.id, p.is_active, p.topic_id, p.text), E'\n' ORDER BY p.id))
                    FROM public.prompts AS p
                    WHERE p.brand_id = b.id),
        'rules_version', $2::int) AS inputs
) AS inputs
LEFT JOIN private.advice_runs AS a ON a.brand_id = b.id
WHERE b.id = $5::uuid
   OR $5::uuid IS NULL
      AND b.is_active
      AND ($4::bool OR a.inputs IS DISTINCT FROM inputs.inputs)
      AND (landed.brand_id IS NULL OR (landed.revision, landed.extract_version) >= (b.revision, $3::int))
      AND NOT EXISTS (
          SELECT FROM private.rereads AS r WHERE r.brand_id = b.id AND (r.asked_at IS NOT NULL OR r.finished_at IS NULL))
-- A brand of each organization, then the second ones: many brands of one hold up no other's.
ORDER BY
    row_number() OVER (PARTITION BY b.organization_id ORDER BY b.id),
    b.organization_id
