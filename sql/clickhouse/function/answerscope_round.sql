-- answerscope_round: half away from zero, as figures are shown; for figures of 0 and more, as all of ours are.
-- The engine's round on floats goes to even, and 0.05 is less than a twentieth in binary: hence the nudge.
(x, digits) ->
    round(x + 1e-9, digits)
