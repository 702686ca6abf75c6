-- answerscope_matches: whether a filter lets a value pass; an empty filter lets all pass.
(filter, value) ->
    empty(filter) OR has(filter, value)
