-- free_tracking_runs: which of the runs are still queued, and whether no other job is asking their questions.
SELECT
    r.id,
    NOT EXISTS (
        SELECT FROM public.tracking_runs AS o
        WHERE (o.organization_id, o.prompt_id, o.platform, o.model, o.region, o.sample)
              = (r.organization_id, r.prompt_id, r.platform, r.model, r.region, r.sample)
          AND o.state = 'asking'
    ) AS is_free
FROM public.tracking_runs AS r
WHERE r.id = ANY ($1::uuid[])
  AND r.state = 'queued'
