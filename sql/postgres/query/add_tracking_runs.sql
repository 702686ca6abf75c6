-- add_tracking_runs: adds the runs of a job, except those that were already asked in their slot.
INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample, slot, prompt, estimate, answer_id)
SELECT $1, $2, r.prompt_id, r.platform, r.model, r.region, r.sample, r.slot, p.prompt, r.estimate, r.answer_id
FROM jsonb_to_recordset($3::jsonb) AS r (
    prompt_id uuid, platform text, model text, region text, sample int, slot timestamptz, estimate numeric, answer_id uuid
)
JOIN jsonb_to_recordset($4::jsonb) AS p (prompt_id uuid, prompt jsonb) USING (prompt_id)
ON CONFLICT (answer_id) DO NOTHING
