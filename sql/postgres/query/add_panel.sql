-- add_panel: adds the canary panel $2, a brand, and its organization $1 unless they exist. One process at a time adds it:
-- the slug of another would be taken before its id is.
WITH turn AS (
    SELECT pg_advisory_xact_lock(hashtextextended('add panel', 0))
), organization AS (
    INSERT INTO public.organizations (id, name)
    SELECT $1::uuid, 'Canary panel'
    FROM turn
    WHERE NOT EXISTS (SELECT FROM public.organizations WHERE id = $1::uuid)
    ON CONFLICT (id) DO NOTHING
)
INSERT INTO public.brands (id, organization_id, name, slug, language)
SELECT $2::uuid, $1::uuid, 'Canary panel 1', 'canary-panel-1', 'en'
WHERE NOT EXISTS (SELECT FROM public.brands WHERE id = $2::uuid)
ON CONFLICT (id) DO NOTHING
