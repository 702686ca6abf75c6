-- prune_suggestions: deletes computed suggestions that nobody decided on and that had expired 30 days before $1.
DELETE FROM public.suggestions
WHERE origin = 'computed'
  AND status = 'new'
  AND expires_at < $1::timestamptz - INTERVAL '30 days'
