-- answerscope_matches_code: whether a code (a slug of a platform or model, a region) passes a filter, in any letter case; an empty filter passes all.
(filter, code) ->
    empty(filter) OR has(arrayMap(given -> lower(given), filter), lower(code))
