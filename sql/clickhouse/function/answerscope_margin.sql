-- answerscope_margin: half the width of the 95 % interval of a score whose answers are clustered by prompt.
-- k prompts, n answers, r the score; yy, yn, nn the sums over prompts of y^2, y x n and n^2, y being a prompt's points.
-- The linearised variance of a ratio of cluster totals (Cochran, Sampling Techniques, 3rd ed., 6.3), less the error of floats. It is
-- estimated from k prompts, hence Student's t: with 1.96 the interval of 10 prompts held the truth in 92 % of samples.
(k, n, r, yy, yn, nn) ->
    answerscope_critical_t(k - 1) * sqrt(k / (k - 1) * greatest(0, yy - 2 * r * yn + r * r * nn - 1e-12 * yy)) / n
