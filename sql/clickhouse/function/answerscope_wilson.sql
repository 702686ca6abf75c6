-- answerscope_wilson: an end of the interval of a mean of n independent answers, in per cent; z is 1.96 for the upper end of 95 %, -1.96 for the lower.
-- x is their sum, each from 0 to 1. Of zeros and ones it is the score interval of a proportion (Wilson, JASA 22, 1927); any other answers
-- vary less than zeros and ones of the same mean (Bhatia and Davis, Amer. Math. Monthly 107, 2000), so of them it is at least 95 %.
(x, n, z) ->
    100 * (x + z * z / 2 + z * sqrt(x * (n - x) / n + z * z / 4)) / (n + z * z)
