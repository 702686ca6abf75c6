-- competitor_slots: the competitors of a brand that have a slot, their colour in charts.
SELECT id, slot
FROM public.competitors
WHERE organization_id = $1
  AND brand_id = $2
  AND slot IS NOT NULL
