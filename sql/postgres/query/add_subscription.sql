-- add_subscription: subscribes the address $3 to a brand $2 of the organization $1, or to all of its brands.
INSERT INTO public.subscriptions (organization_id, brand_id, address, events, drops_only)
VALUES ($1, $2, $3::text, $4, $5)
RETURNING id
