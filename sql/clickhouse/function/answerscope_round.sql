-- answerscope_round: half away from zero, as figures are shown; never -0.
-- The engine rounds floats half to even, and 0.05 is less than a twentieth in binary, so the number grows by a hundred-billionth before.
-- It is named once here: a statement is planned with as many copies of an argument as a function has uses of it.
(x, digits) ->
    round(x * 1.00000000001, digits) + 0
