-- add_competitor: adds a competitor to a brand, in the order of $2.
INSERT INTO public.competitors (brand_id, created_at, name, aliases, domains)
VALUES ($1, now() + $2::int * INTERVAL '1 microsecond', $3, $4, $5)
