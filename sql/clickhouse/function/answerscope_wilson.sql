-- answerscope_wilson: an end of the 95 % interval of a mean of n independent answers, in per cent; z is 1.96 for the upper end, -1.96 for the lower.
-- x is their sum, each from 0 to 1. Of zeros and ones it is the score interval of a proportion (Wilson, JASA 22, 1927); any other answers
-- vary less than zeros and ones of the same mean (Bhatia and Davis, Amer. Math. Monthly 107, 2000), so of them it is at least 95 %.
-- The numbers are the square of z, its half and its quarter.
(x, n, z) ->
    100 * (x + 1.9208 + z * sqrt(x * (n - x) / n + 0.9604)) / (n + 3.8416)
