-- What the answers of a brand cite, by day, page and every filter column, and in
-- the rows without a page how many answers there are: one insert tells both.
-- Unlike the rows of citations, the sums of a corrected reading merge away.
--
-- An answer counts once in whatever it cites twice, and which citation is its
-- first there is known only as long as it is whole. So each of its citations says
-- whether it is the first of the answer, of the domain in it, and both again
-- among those of one source: owned, a competitor's, or external.
--
-- entry stands for domain, url, title, source_type and model, which together
-- cost as much to group by as all else of a question. The view sums nothing: the
-- table does, as it writes.
CREATE TABLE IF NOT EXISTS citation_daily
(
    organization_id         UUID COMMENT 'organization that the brand belongs to',
    brand_id                UUID COMMENT 'brand that the answers are read for',
    day                     Date COMMENT 'UTC day of the answers',
    domain                  LowCardinality(String) COMMENT 'registrable domain of the cited host',
    url                     String COMMENT 'cited URL, normalised, empty: the row counts answers',
    title                   String COMMENT 'as the answers tell it, empty: they tell none',
    source_type             LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that fits',
    competitor_id           UUID COMMENT 'competitor whose domain it is, nil: no competitor''s',
    platform                LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model                   LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region                  LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id                UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded                 Bool COMMENT 'the prompt names the brand',
    entry                   UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    answers                 Int64 COMMENT 'answers, whatever they cite: in rows without a url',
    citations               Int64 COMMENT 'citations, which are answers that cite the url',
    citing_answers          Int64 COMMENT 'citations that are the first of their answer',
    citing_answers_source   Int64 COMMENT 'the first of their answer among owned, a competitor''s or external ones',
    domain_answers          Int64 COMMENT 'the first of their answer to the domain',
    domain_answers_source   Int64 COMMENT 'the first of their answer to the domain among owned, a competitor''s or external ones'
)
ENGINE = SummingMergeTree((answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What answers cite by day, page and every filter, and how many answers there are. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citation_daily_view TO citation_daily AS
WITH arrayMap(
        (owned, rival, listed) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        told.citations.owned, told.citations.competitor_id, told.citations.listed_type) AS types,
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
    reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
    sign * (url = '')               AS answers,
    sign * (url != '')              AS citations,
    sign * (of_answer = 1)          AS citing_answers,
    sign * (of_answer_source = 1)   AS citing_answers_source,
    sign * (of_domain = 1)          AS domain_answers,
    sign * (of_domain_source = 1)   AS domain_answers_source
FROM answers AS told
ARRAY JOIN
    arrayPushFront(told.citations.url, '') AS url,
    arrayPushFront(told.citations.title, '') AS title,
    arrayPushFront(told.citations.cited, true) AS cited,
    arrayPushFront(told.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(told.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND NOT given_up
  AND cited;

-- Answers that landed before the view was there. Sinks start after migrations, so
-- that none lands meanwhile, and what a broken run filled in is taken out first.
-- Two blocks that are alike are two.
-- Of a batch that is planned and not committed (open_batches, see Migrate) nothing
-- is filled in: its replay brings all of it, since this table has not seen its token.
TRUNCATE TABLE citation_daily;

INSERT INTO citation_daily
WITH arrayMap(
        (owned, rival, listed) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        told.citations.owned, told.citations.competitor_id, told.citations.listed_type) AS types,
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
    reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
    sign * (url = '')               AS answers,
    sign * (url != '')              AS citations,
    sign * (of_answer = 1)          AS citing_answers,
    sign * (of_answer_source = 1)   AS citing_answers_source,
    sign * (of_domain = 1)          AS domain_answers,
    sign * (of_domain_source = 1)   AS domain_answers_source
FROM answers AS told
ARRAY JOIN
    arrayPushFront(told.citations.url, '') AS url,
    arrayPushFront(told.citations.title, '') AS title,
    arrayPushFront(told.citations.cited, true) AS cited,
    arrayPushFront(told.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(told.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND NOT given_up
  AND cited
  AND NOT arrayExists(
        batch -> batch.1 = log_topic AND batch.2 = log_partition AND batch.3 <= log_offset,
        (SELECT groupArray((log_topic, log_partition, first_offset)) FROM open_batches))
SETTINGS max_partitions_per_insert_block = 0, insert_deduplicate = 0;
