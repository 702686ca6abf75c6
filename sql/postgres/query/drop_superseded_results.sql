-- drop_superseded_results: deletes the old results of some prompts and platforms that are not the newest of theirs.
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
