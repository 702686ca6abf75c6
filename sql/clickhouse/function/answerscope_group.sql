-- answerscope_group: the group of an answer by group_by: platform, model, region (in lower case) or topic (its id); '' without one, and without group_by.
-- If group_by is '', the result is a constant and no column is read.
(group_by, platform, model, region, topic_id) ->
    if(
        group_by = '',
        '',
        multiIf(
            group_by = 'platform', toString(lower(platform)),
            group_by = 'model', toString(lower(model)),
            group_by = 'region', toString(lower(region)),
            ifNull(toString(answerscope_given(topic_id)), '')))
