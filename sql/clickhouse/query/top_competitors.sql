-- top_competitors: the live competitors that the window's answers name, most mentioned first.
-- Serves topCompetitors of GET /api/v1/visibility-summary, which shows five.
SELECT
    rivals.competitor_id,
    rivals.name,
    rivals.mentions,
    answerscope_round(answerscope_ratio(rivals.visibility, brand.answers), 1) AS avg_visibility,
    answerscope_round(answerscope_score(brand.answers, rivals.mention_answers, rivals.citation_answers, rivals.inverse_position), 1) AS score
FROM competitor_visibility(
        organization_id = {organization_id:UUID},
        brand_id = {brand_id:UUID},
        date_from = {date_from:Date},
        date_to = {date_to:Date},
        models = {models:Array(String)},
        regions = {regions:Array(String)},
        topics = {topics:Array(UUID)},
        branded = {branded:Array(Bool)},
        granularity = 'window') AS rivals
INNER JOIN brand_visibility(
        organization_id = {organization_id:UUID},
        brand_id = {brand_id:UUID},
        date_from = {date_from:Date},
        date_to = {date_to:Date},
        models = {models:Array(String)},
        regions = {regions:Array(String)},
        topics = {topics:Array(UUID)},
        branded = {branded:Array(Bool)},
        granularity = 'window') AS brand ON brand.bucket = rivals.bucket
WHERE rivals.mentions > 0
ORDER BY rivals.mentions DESC, rivals.name
LIMIT {limit:UInt32}
