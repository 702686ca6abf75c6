-- answerscope_gap_verdict: where the brand is, by the ends of the interval of its rate less another's.
(low, high) ->
    multiIf(low IS NULL, 'too_little_data', low > 0, 'ahead', high < 0, 'behind', 'level')
