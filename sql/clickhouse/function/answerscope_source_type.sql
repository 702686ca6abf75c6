-- answerscope_source_type: the source type of a citation: the first that applies. citation_daily_view has the same expression.
(owned, competitor, listed) ->
    multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed)
