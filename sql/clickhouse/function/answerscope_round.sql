-- answerscope_round: half away from zero, as figures are shown; never -0.
-- The engine rounds floats half to even, and 0.05 is less than a twentieth in binary, so it adds 1e-9.
(x, digits) ->
    round(x + sign(x) * 1e-9, digits) + 0
