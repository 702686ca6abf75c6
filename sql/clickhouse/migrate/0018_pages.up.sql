-- A page has one spelling (answerscope_address). An older release sees a newer schema by this number, and leaves functions and views as they
-- are.
SELECT 1;
