-- emit_skipped: adds the event that platforms $3 of a brand were not asked for reason $2, once on the UTC day of $5.
SELECT private.emit(b.organization_id, b.id, 'tracking.skipped',
    jsonb_build_object('brand', private.brand_of(b.id), 'reason', $2::text, 'platforms', $3::text[], 'until', $4::timestamptz),
    concat_ws('/', 'tracking.skipped', b.id, $2, ($5::timestamptz AT TIME ZONE 'UTC')::date))
FROM public.brands AS b
WHERE b.id = $1
