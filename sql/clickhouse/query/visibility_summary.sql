-- visibility_summary: a brand's figures over the window; no row when the window has no answers.
-- Serves the totals of GET /api/v1/visibility-summary.
SELECT *
FROM brand_visibility(
    organization_id = {organization_id:UUID},
    brand_id = {brand_id:UUID},
    date_from = {date_from:Date},
    date_to = {date_to:Date},
    models = {models:Array(String)},
    regions = {regions:Array(String)},
    topics = {topics:Array(UUID)},
    branded = {branded:Array(Bool)},
    granularity = 'window')
