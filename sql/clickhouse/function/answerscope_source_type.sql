-- answerscope_source_type: the source type of a citation: the first that applies.
(owned, competitor_id, listed_type) ->
    multiIf(owned, 'owned', isNotNull(answerscope_given(competitor_id)), 'competitor', listed_type)
