-- newest_episodes: the newest episode of each scope of a brand's visibility, open or not.
SELECT DISTINCT ON (scope) reference
FROM private.episodes
WHERE brand_id = $1
  AND kind = 'visibility'
ORDER BY scope, reference ->> 'opened' DESC
