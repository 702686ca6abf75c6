-- outdated_result_brands: the brands that have results of extractors before $1.
SELECT DISTINCT brand_id AS id
FROM public.prompt_results
WHERE extract_version < $1
