-- topics: the names of the topics of a brand.
SELECT name
FROM public.topics
WHERE brand_id = $1
ORDER BY name COLLATE "C"
