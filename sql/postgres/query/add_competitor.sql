-- add_competitor: gives a brand one of its competitors, in the order of $2.
INSERT INTO public.competitors (brand_id, created_at, name, aliases, domains)
VALUES ($1, now() + $2::int * INTERVAL '1 microsecond', $3, $4, $5)
