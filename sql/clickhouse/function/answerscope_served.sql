-- answerscope_served: what answered, as text: the served model, and who captured it, as in 'gpt-5.1 via cloro'; '' if neither is known.
(served_model, provider) ->
    trimLeft(concat(served_model, if(provider = '', '', concat(' via ', provider))))
