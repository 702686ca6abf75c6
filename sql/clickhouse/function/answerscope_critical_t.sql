-- answerscope_critical_t: the quantile of Student's t that 2.5 % exceed: 12.7 of one degree of freedom, 1.96 of many.
-- A table up to 29 degrees, then the expansion about the normal quantile (Abramowitz and Stegun, 26.7.5, to the fourth power), off by
-- under 4e-8.
(degrees) ->
    if(
        degrees < 30,
        [
            12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
            2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
            2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
            2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642
        ][degrees],
        1.959963985 + (2.372271230 + (2.822498616 + (2.555849680 + 1.589534053 / degrees) / degrees) / degrees) / degrees)
