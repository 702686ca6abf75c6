-- answerscope_holds: whether a text has a name as it is written, with neither a letter nor a digit beside it.
(text, name) ->
    position(text, name) > 0
    AND match(text, concat('(?:^|[^\\pL\\pN])', regexpQuoteMeta(name), '(?:$|[^\\pL\\pN])'))
