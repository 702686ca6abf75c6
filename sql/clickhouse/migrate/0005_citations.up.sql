-- One row per answer and URL that it cites. A row counts only where its signs
-- sum to 1 over (answer_id, url, listed_type, owned, competitor_id).
CREATE TABLE IF NOT EXISTS citations
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    prompt_id           UUID,
    answer_id           UUID,
    url                 String CODEC(ZSTD(1)),
    domain              LowCardinality(String) COMMENT 'registrable domain of the host',
    title               String CODEC(ZSTD(1)),
    listed_type         LowCardinality(String) COMMENT 'source type without regard to who owns the domain',
    owned               Bool,
    competitor_id       UUID COMMENT 'nil: no competitor''s',
    sign                Int8
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS citations_view TO citations AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    id AS answer_id,
    c.url AS url,
    c.domain AS domain,
    c.title AS title,
    c.listed_type AS listed_type,
    c.owned AS owned,
    c.competitor_id AS competitor_id,
    sign
FROM answers
ARRAY JOIN citations AS c
WHERE NOT endsWith(platform, '-shopping')
  AND c.cited;
