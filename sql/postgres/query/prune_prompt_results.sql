-- prune_prompt_results: deletes at most $2 old results that are not the newest of their prompt and platform. Rows that
-- another transaction writes are skipped until the next time.
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
