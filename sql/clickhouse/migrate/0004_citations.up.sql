-- One row per answer and URL that it cites. A row counts only where its signs sum to 1 over (answer_id, url,
-- listed_type, owned, competitor_id).
CREATE TABLE IF NOT EXISTS citations
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that the answers are read for',
    day             Date COMMENT 'UTC day of the answers',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model           LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region          LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    prompt_id       UUID COMMENT 'prompt that was asked',
    answer_id       UUID COMMENT 'id of the answer',
    url             String COMMENT 'cited URL, normalised' CODEC(ZSTD(1)),
    domain          LowCardinality(String) COMMENT 'registrable domain of the host',
    title           String COMMENT 'as the answer gives it, empty: none' CODEC(ZSTD(1)),
    listed_type     LowCardinality(String) COMMENT 'forum, social, review, institutional or editorial, without regard to who owns the domain',
    owned           Bool COMMENT 'it is on a domain of the brand',
    competitor_id   UUID COMMENT 'competitor on whose domain it is, nil: no competitor''s',
    sign            Int8 COMMENT '1: the row counts, -1: an earlier one is taken back'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0
COMMENT 'One row per answer and URL that it cites, and per correction. What counts are the URLs of an answer whose signs sum to 1. citation_daily is faster.';

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
