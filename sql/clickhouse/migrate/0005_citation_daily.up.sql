-- The citations in a brand's answers, by day, page and every filter column. Rows without a page count answers. Unlike the
-- rows of citations, the sums of a corrected reading merge away.
--
-- An answer that cites a page, domain or source twice counts once. Only the whole answer shows which citation is the
-- first, so each citation has a mark: first of the answer, first of its domain, and both again among the citations of
-- its source (owned, a competitor's, or external).
--
-- entry is a hash of domain, url, title, source_type and model: to group by these five costs as much as the rest of a
-- question. The view does not sum, the table does, as it writes. Functions are made after migrations, so it has a copy
-- of answerscope_source_type. A test compares the two.
CREATE TABLE IF NOT EXISTS citation_daily
(
    organization_id       UUID COMMENT 'organization of the brand',
    brand_id              UUID COMMENT 'id of the brand',
    day                   Date COMMENT 'UTC day',
    domain                LowCardinality(String) COMMENT 'registrable domain of the host',
    url                   String COMMENT 'cited URL, normalised, empty: the row counts answers',
    title                 String COMMENT 'title in the answer, empty: none',
    source_type           LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that applies',
    competitor_id         UUID COMMENT 'competitor whose domain it is, nil: none',
    platform              LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model                 LowCardinality(String) COMMENT 'requested model, empty: none',
    region                LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id              UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded               Bool COMMENT 'the prompt names the brand',
    mentioned             Bool COMMENT 'the answer mentions the brand',
    entry                 UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    answers               Int64 COMMENT 'answers, on rows without a url',
    citations             Int64 COMMENT 'answers that cite the url',
    citing_answers        Int64 COMMENT 'citations that are the first in their answer',
    citing_answers_source Int64 COMMENT 'the first in their answer of their source: owned, competitor or external',
    domain_answers        Int64 COMMENT 'the first in their answer to the domain',
    domain_answers_source Int64 COMMENT 'the first in their answer to the domain and of the source'
)
ENGINE = SummingMergeTree((answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded, mentioned)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'What answers cite by day, page and every filter, and the number of answers. Always sum: a key may have several rows.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citation_daily_view TO citation_daily AS
WITH arrayMap(
        (owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        landed.citations.owned, landed.citations.competitor_id, landed.citations.listed_type) AS types,
    arrayMap(type -> if(type IN ('owned', 'competitor'), type, 'external'), types) AS sources
SELECT
    organization_id,
    brand_id,
    day,
    domain,
    url,
    title,
    source_type,
    competitor_id,
    platform,
    model,
    region,
    topic_id,
    branded,
    CAST(mention_count > 0 AS Bool) AS mentioned,
    reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
    sign * (url = '')               AS answers,
    sign * (url != '')              AS citations,
    sign * (of_answer = 1)          AS citing_answers,
    sign * (of_answer_source = 1)   AS citing_answers_source,
    sign * (of_domain = 1)          AS domain_answers,
    sign * (of_domain_source = 1)   AS domain_answers_source
FROM answers AS landed
ARRAY JOIN
    arrayPushFront(landed.citations.url, '') AS url,
    arrayPushFront(landed.citations.title, '') AS title,
    arrayPushFront(landed.citations.cited, true) AS cited,
    arrayPushFront(landed.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(landed.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND answered
  AND cited;
