-- answerscope_score: ai_visibility_score of a set of answers, 0 to 100, not rounded; NULL without answers.
-- 100 x (0.6 x mention rate + 0.25 x citation rate + 0.15 x position factor).
(answers, mention_answers, citation_answers, inverse_position) ->
    answerscope_points(mention_answers, citation_answers, inverse_position) / nullIf(answers, 0)
