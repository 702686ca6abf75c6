-- answerscope_points: what answers bring to the score, before it is divided by their number.
(mention_answers, citation_answers, inverse_position) ->
    60 * mention_answers + 25 * citation_answers + 15 * inverse_position / 5354228880
