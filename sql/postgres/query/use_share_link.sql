-- use_share_link: records to the hour that the link $1 is used.
UPDATE public.share_links
SET last_used_at = date_trunc('hour', now())
WHERE id = $1
