-- prune_prompt_results: deletes old results that are not the newest of their prompt and platform, at most so many. Rows
-- that another transaction writes are left to the next time.
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
