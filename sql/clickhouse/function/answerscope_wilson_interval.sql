-- answerscope_wilson_interval: both ends of the 95 % interval of the mean of n answers to k prompts, rounded; lowest is the least mean that can be.
-- of_prompt: the answers are to one prompt, so there are no clusters (answerscope_wilson, from 5 answers on); else margin is
-- answerscope_margin's, which takes 5 prompts. NULL below that.
(of_prompt, k, n, mean, margin, lowest) ->
    arrayMap(
        side -> answerscope_round(
            multiIf(
                if(of_prompt, n, k) < 5, NULL,
                of_prompt, answerscope_wilson(n * mean / 100, n, 1.96 * side),
                least(100, greatest(lowest, mean + side * margin))),
            1),
        [-1, 1])
