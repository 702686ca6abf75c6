-- topics: the names of the active topics of a brand.
SELECT name
FROM public.topics
WHERE brand_id = $1 AND is_active
ORDER BY name COLLATE "C"
