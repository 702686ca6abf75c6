-- free_tracking_runs: which of some runs are still to be asked, and whether no other job asks their questions any more.
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
