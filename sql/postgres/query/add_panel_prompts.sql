-- add_panel_prompts: adds the prompts of the canary panel. They name no brand, and answers to each name some of the
-- control names.
INSERT INTO public.prompts (brand_id, prompt_set_id, text, samples)
SELECT $1::uuid, $2::uuid, text, 3
FROM unnest(ARRAY[
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
