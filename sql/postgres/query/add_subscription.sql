-- add_subscription: subscribes the address $3 to a brand $2 of the organization $1, or to all of its brands; without
-- events in $4 to all that are mailed.
INSERT INTO public.subscriptions (organization_id, brand_id, address, events, drops_only)
VALUES ($1, $2, $3::text, coalesce($4::text[], '{}'), $5)
RETURNING id
