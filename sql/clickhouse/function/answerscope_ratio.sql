-- answerscope_ratio: part / whole, NULL where the whole is nothing.
(part, whole) ->
    if(whole = 0, NULL, part / whole)
