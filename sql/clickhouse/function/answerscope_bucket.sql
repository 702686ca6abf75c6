-- answerscope_bucket: the first day of a day's bucket; granularity is day, week (ISO Mondays), month or window.
(granularity, day, date_from) ->
    multiIf(granularity = 'day', day, granularity = 'week', toMonday(day), granularity = 'month', toStartOfMonth(day), date_from)
