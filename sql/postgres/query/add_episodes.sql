-- add_episodes: opens those of a brand's episodes that began on a judged day.
INSERT INTO private.episodes (organization_id, brand_id, kind, scope, direction, reference)
SELECT
    $1,
    $2,
    'visibility',
    n.episode ->> 'platform',
    n.episode ->> 'direction',
    n.episode
FROM jsonb_array_elements($3::jsonb) AS n (episode)
WHERE (n.episode ->> 'opened')::date = $4::date
