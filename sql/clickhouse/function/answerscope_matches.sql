-- answerscope_matches: whether value passes a filter; an empty filter passes all.
(filter, value) ->
    empty(filter) OR has(filter, value)
