-- answerscope_within_gap: an end of the 95 % interval of the gap between two rates, paired by k prompts, rounded; side is -1 for the lower, 1
-- for the upper. margin is answerscope_margin's. NULL under 5 prompts.
(k, gap, margin, side) ->
    answerscope_round(if(k < 5, NULL, least(100, greatest(-100, gap + side * margin))), 1)
