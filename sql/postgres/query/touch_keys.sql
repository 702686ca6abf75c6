-- touch_keys: records the use of keys now, at most once a minute each.
UPDATE public.api_keys
SET last_used_at = now()
WHERE id = ANY ($1::uuid[])
  AND coalesce(last_used_at < now() - INTERVAL '1 minute', true)
