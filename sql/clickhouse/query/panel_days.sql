-- panel_days: the features of a panel's answers by platform, model, served model, prompt and day: 0 to 100 points an answer.
-- They are the share of the ten control names, the citations, the length, and whether anything is cited. The text is on
-- the first row of an answer only, which no correction takes back.
WITH
    arrayCount(n -> n > 0, answers.competitors.mention_count) AS named,
    arrayCount(cited -> cited, answers.citations.cited)       AS cited_pages,
    sign * answered                                           AS answer
SELECT
    platform,
    model,
    answerscope_served(answers.served_model, provider)      AS served_model,
    prompt_id,
    day,
    sum(sign)                                               AS runs,
    sum(sign * answers.given_up)                            AS given_up,
    sum(answer)                                             AS answers,
    toFloat64(sum(answer * named * 10))                     AS names,
    toFloat64(sum(answer * least(cited_pages, 20) * 5))     AS citations,
    sum(answer * least(lengthUTF8(answers.text), 6000)) / 60 AS length,
    toFloat64(sum(answer * (cited_pages > 0) * 100))        AS cites
FROM answers
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY platform, model, answers.served_model, provider, prompt_id, day
HAVING runs > 0
ORDER BY platform, model, answers.served_model, provider, prompt_id, day
