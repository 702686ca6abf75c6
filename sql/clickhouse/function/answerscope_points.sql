-- answerscope_points: the sum of answers' points; divided by their number it is the score.
(mention_answers, citation_answers, inverse_position) ->
    60 * mention_answers + 25 * citation_answers + 15 * inverse_position / 5354228880
