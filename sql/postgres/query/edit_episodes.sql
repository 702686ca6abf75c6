-- edit_episodes: stores what a judged day made of a brand's episodes.
UPDATE private.episodes AS e
SET
    reference = n.episode,
    closed_at = CASE WHEN n.episode ? 'closed' THEN coalesce(e.closed_at, now()) END
FROM jsonb_array_elements($2::jsonb) AS n (episode)
WHERE e.brand_id = $1
  AND e.kind = 'visibility'
  AND e.scope = n.episode ->> 'platform'
  AND e.reference ->> 'opened' = n.episode ->> 'opened'
