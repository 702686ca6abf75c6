-- drop_superseded_results: deletes the old results of the prompts and platforms of $1, except the newest of each.
DELETE FROM public.prompt_results AS old
USING (SELECT DISTINCT
           prompt_id,
           platform
       FROM json_populate_recordset(NULL::public.prompt_results, $1::json)
       WHERE created_at < $2::timestamptz) AS pair
WHERE old.prompt_id = pair.prompt_id
  AND old.platform = pair.platform
  AND old.created_at < $2::timestamptz
  AND EXISTS (
          SELECT
          FROM public.prompt_results AS newer
          WHERE newer.prompt_id = old.prompt_id
            AND newer.platform = old.platform
            AND (newer.created_at, newer.id) > (old.created_at, old.id))
