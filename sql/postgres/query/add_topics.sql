-- add_topics: adds the topics of a brand that are missing; '' is none.
INSERT INTO public.topics (brand_id, name)
SELECT DISTINCT
    $1::uuid,
    name
FROM unnest($2::text[]) AS input (name)
WHERE name <> ''
ON CONFLICT (brand_id, name) DO NOTHING
