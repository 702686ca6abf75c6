-- answerscope_given: an id, or NULL for the nil UUID.
(id) ->
    nullIf(id, toUUID('00000000-0000-0000-0000-000000000000'))
