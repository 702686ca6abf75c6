-- add_panel_prompts: adds the control names of the canary panel $1 as its competitors, makers that sell in many
-- countries, and its prompts. They name no brand, and answers to each name some of the control names.
WITH names AS (
    INSERT INTO public.competitors (brand_id, name)
    SELECT $1::uuid, name
    FROM unnest(ARRAY[
        'Apple', 'Bosch', 'Hyundai', 'LG', 'Mitsubishi', 'Panasonic', 'Samsung', 'Sony', 'Tesla', 'Toyota'
    ]) AS name
), prompt_set AS (
    INSERT INTO public.prompt_sets (brand_id, name)
    VALUES ($1::uuid, 'Canary panel')
    RETURNING id
)
INSERT INTO public.prompts (brand_id, prompt_set_id, text, samples)
SELECT $1::uuid, prompt_set.id, text, 3
FROM prompt_set, unnest(ARRAY[
    'Name ten electric cars.',
    'Which hybrid cars use the least fuel?',
    'Compare two kinds of heat pump, and name makers of each.',
    'Which air conditioners are quiet enough for a bedroom?',
    'Which washing machines last longest?',
    'Which dishwashers are the quietest?',
    'Which televisions have the best picture?',
    'Name good noise-cancelling headphones.',
    'Which phones take the best photos?',
    'Which home batteries go well with solar panels?'
]) AS text
