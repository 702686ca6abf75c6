-- answerscope_ratio: part / whole, NULL where the whole is nothing.
(part, whole) ->
    part / nullIf(whole, 0)
