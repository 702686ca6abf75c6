-- answerscope_ratio: part / whole, NULL where whole is 0.
(part, whole) ->
    part / nullIf(whole, 0)
