-- answerscope_group: the group of an answer when group_by is platform, model, region (in lower case) or topic (its id); '' is none, and all of them without group_by.
-- Where group_by is '', the whole is a constant and no column is read.
(group_by, platform, model, region, topic_id) ->
    if(
        group_by = '',
        '',
        multiIf(
            group_by = 'platform', toString(lower(platform)),
            group_by = 'model', toString(lower(model)),
            group_by = 'region', toString(lower(region)),
            ifNull(toString(answerscope_given(topic_id)), '')))
