-- answerscope_bucket: the first day of a day's bucket; granularity is day, week (ISO Mondays) or window.
(granularity, day, date_from) ->
    multiIf(granularity = 'day', day, granularity = 'week', toMonday(day), date_from)
