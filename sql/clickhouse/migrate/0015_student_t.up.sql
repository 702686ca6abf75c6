-- Intervals of few prompts take Student's t (answerscope_margin). An older release sees a newer schema by this number,
-- and leaves functions and views as they are.
SELECT 1;
