-- One row per answer and URL that it cites. A row counts only where its signs sum to 1 over (answer_id, url,
-- listed_type, owned, competitor_id).
CREATE TABLE IF NOT EXISTS citations
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model           LowCardinality(String) COMMENT 'requested model, empty: none',
    region          LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    prompt_id       UUID COMMENT 'prompt that was asked',
    answer_id       UUID COMMENT 'id of the answer',
    url             String COMMENT 'cited URL, normalised' CODEC(ZSTD(1)),
    domain          LowCardinality(String) COMMENT 'registrable domain of the host',
    title           String COMMENT 'title in the answer, empty: none' CODEC(ZSTD(1)),
    listed_type     LowCardinality(String) COMMENT 'forum, social, review, institutional or editorial, regardless of its owner',
    owned           Bool COMMENT 'on a domain of the brand',
    competitor_id   UUID COMMENT 'competitor whose domain it is, nil: none',
    sign            Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'One row per answer and URL that it cites, and per correction: those whose signs sum to 1 count. citation_daily is faster.';

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
