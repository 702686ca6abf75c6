-- add_panel_names: adds the control names of the canary panel as its competitors: makers that sell in many countries.
INSERT INTO public.competitors (brand_id, name)
SELECT $1::uuid, name
FROM unnest(ARRAY['Apple', 'Bosch', 'Hyundai', 'LG', 'Mitsubishi', 'Panasonic', 'Samsung', 'Sony', 'Tesla', 'Toyota']) AS name
