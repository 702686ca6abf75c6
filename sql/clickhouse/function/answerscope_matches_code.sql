-- answerscope_matches_code: whether a code (a slug of a platform or model, a region) passes a filter, whatever its case; an empty filter lets all pass.
(filter, code) ->
    empty(filter) OR has(arrayMap(given -> lower(given), filter), lower(code))
