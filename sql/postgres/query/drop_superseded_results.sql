-- drop_superseded_results: deletes, of some pairs of a prompt and a platform, the old
-- results that are not their pair's newest.
DELETE FROM public.prompt_results AS old
USING (SELECT DISTINCT
           prompt_id,
           platform
       FROM unnest($1::uuid[], $2::text[]) AS given (prompt_id, platform)) AS pair
WHERE old.prompt_id = pair.prompt_id
  AND old.platform = pair.platform
  AND old.created_at < $3::timestamptz
  AND EXISTS (
          SELECT
          FROM public.prompt_results AS newer
          WHERE newer.prompt_id = old.prompt_id
            AND newer.platform = old.platform
            AND (newer.created_at, newer.id) > (old.created_at, old.id))
