-- answerscope_matches: whether value passes a filter; an empty filter lets all pass.
(filter, value) ->
    empty(filter) OR has(filter, value)
