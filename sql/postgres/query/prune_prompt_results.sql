-- prune_prompt_results: deletes old results that are not their pair's newest, so many at
-- most. Rows that somebody writes are left to the next time.
DELETE FROM public.prompt_results
WHERE id IN (
          SELECT old.id
          FROM public.brands AS b
          CROSS JOIN LATERAL (
              SELECT *
              FROM public.prompt_results AS r
              WHERE r.brand_id = b.id
                AND r.created_at < $1::timestamptz
          ) AS old
          WHERE EXISTS (
                    SELECT
                    FROM public.prompt_results AS newer
                    WHERE newer.prompt_id = old.prompt_id
                      AND newer.platform = old.platform
                      AND (newer.created_at, newer.id) > (old.created_at, old.id))
          LIMIT $2::int
          FOR UPDATE OF old SKIP LOCKED)
