-- answerscope_address
CREATE FUNCTION answerscope_address AS address -> arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(address, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/');

-- answerscope_bucket
CREATE FUNCTION answerscope_bucket AS (granularity, day, date_from) -> multiIf(granularity = 'day', day, granularity = 'week', toMonday(day), granularity = 'month', toStartOfMonth(day), date_from);

-- answerscope_cited_page
CREATE FUNCTION answerscope_cited_page AS url -> trimRight(extract(url, '^https?://(?:www[.])?([^?]*)'), '/');

-- answerscope_critical_t
CREATE FUNCTION answerscope_critical_t AS degrees -> if(degrees < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][degrees], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / degrees)) / degrees)) / degrees)) / degrees));

-- answerscope_gap_verdict
CREATE FUNCTION answerscope_gap_verdict AS (low, high) -> multiIf(low IS NULL, 'too_little_data', low > 0, 'ahead', high < 0, 'behind', 'level');

-- answerscope_given
CREATE FUNCTION answerscope_given AS id -> nullIf(id, toUUID('00000000-0000-0000-0000-000000000000'));

-- answerscope_group
CREATE FUNCTION answerscope_group AS (group_by, platform, model, region, topic_id) -> if(group_by = '', '', multiIf(group_by = 'platform', toString(lower(platform)), group_by = 'model', toString(lower(model)), group_by = 'region', toString(lower(region)), ifNull(toString(answerscope_given(topic_id)), '')));

-- answerscope_holds
CREATE FUNCTION answerscope_holds AS (text, name) -> ((position(text, name) > 0) AND match(text, concat('(?:^|[^\\pL\\pN])', regexpQuoteMeta(name), '(?:$|[^\\pL\\pN])')));

-- answerscope_margin
CREATE FUNCTION answerscope_margin AS (k, n, r, yy, yn, nn) -> ((answerscope_critical_t(k - 1) * sqrt((k / (k - 1)) * greatest(0, ((yy - ((2 * r) * yn)) + ((r * r) * nn)) - (1e-12 * yy)))) / n);

-- answerscope_matches
CREATE FUNCTION answerscope_matches AS (filter, value) -> (empty(filter) OR has(filter, value));

-- answerscope_matches_code
CREATE FUNCTION answerscope_matches_code AS (filter, code) -> (empty(filter) OR has(arrayMap(given -> lower(given), filter), lower(code)));

-- answerscope_page
CREATE FUNCTION answerscope_page AS address -> trimRight(answerscope_address(extract(address, '^(?:https?://)?(?:www[.])?([^?]*)')), '/');

-- answerscope_path
CREATE FUNCTION answerscope_path AS path -> replaceRegexpOne(concat(answerscope_address(path), '/'), '(.)/+$', '\\1');

-- answerscope_points
CREATE FUNCTION answerscope_points AS (mention_answers, citation_answers, inverse_position) -> (((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880));

-- answerscope_ratio
CREATE FUNCTION answerscope_ratio AS (part, whole) -> (part / nullIf(whole, 0));

-- answerscope_round
CREATE FUNCTION answerscope_round AS (x, digits) -> (round(x * 1.00000000001, digits) + 0);

-- answerscope_score
CREATE FUNCTION answerscope_score AS (answers, mention_answers, citation_answers, inverse_position) -> (answerscope_points(mention_answers, citation_answers, inverse_position) / nullIf(answers, 0));

-- answerscope_served
CREATE FUNCTION answerscope_served AS (served_model, provider) -> trimLeft(concat(served_model, if(provider = '', '', concat(' via ', provider))));

-- answerscope_source_type
CREATE FUNCTION answerscope_source_type AS (owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed);

-- answerscope_wilson
CREATE FUNCTION answerscope_wilson AS (x, n, z) -> ((100 * ((x + 1.9208) + (z * sqrt(((x * (n - x)) / n) + 0.9604)))) / (n + 3.8416));

-- answerscope_wilson_interval
CREATE FUNCTION answerscope_wilson_interval AS (of_prompt, k, n, mean, margin, lowest) -> arrayMap(side -> answerscope_round(multiIf(if(of_prompt, n, k) < 5, NULL, of_prompt, answerscope_wilson((n * mean) / 100, n, 1.96 * side), least(100, greatest(lowest, mean + (side * margin)))), 1), [-1, 1]);

-- answerscope_words
CREATE FUNCTION answerscope_words AS text -> if(isASCII(text), extractAll(lower(text), '[a-z0-9]+(?:[\'&+.-][a-z0-9]+)*'), extractAll(normalizeUTF8NFC(replaceRegexpAll(translateUTF8(lowerUTF8(normalizeUTF8NFKD(text)), '’‘‐–−', '\'\'---'), '([\\p{Latin}\\p{Greek}\\p{Cyrillic}])\\p{Mn}+', '\\1')), '[\\p{L}\\p{M}\\p{N}]+(?:[\'&+.-][\\p{L}\\p{M}\\p{N}]+)*'));

-- advice_cards
CREATE VIEW advice_cards
COMMENT 'the brands of products that nobody tracks, by name, with the number of product lists of a window that show them. [e8d9e2269d95]'
AS SELECT
    product_brand,
    count() AS lists
FROM
(
    SELECT
        product_brand,
        answer_id
    FROM shopping_cards
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day >= {first_day:Date}) AND (day <= {last_day:Date}) AND (role = 'other') AND (product_brand != '')
    GROUP BY
        product_brand,
        answer_id
    HAVING sum(sign) > 0
)
GROUP BY product_brand
ORDER BY
    lists DESC,
    product_brand ASC
LIMIT 10000;

-- advice_name_counts
CREATE VIEW advice_name_counts
COMMENT 'how many answers of a window have each of at most 255 names in their text, as many as the filter name of GET /api/v1/answers lists. [454b16d2638d]'
AS SELECT
    name,
    toInt64(count()) AS answers
FROM
(
    SELECT
        id,
        groupUniqArrayArray(arrayFilter(name -> ((position(text, name) > 0) AND match(text, concat('(?:^|[^\\pL\\pN])', regexpQuoteMeta(name), '(?:$|[^\\pL\\pN])'))), arrayFilter((name, place) -> (place > 0), {names:Array(String)}, multiSearchAllPositions(text, {names:Array(String)})))) AS names
    FROM answers
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND answered AND (NOT endsWith(platform, '-shopping'))
    GROUP BY id
    HAVING sum(sign) > 0
)
ARRAY JOIN names AS name
GROUP BY name;

-- advice_names
CREATE VIEW advice_names
COMMENT 'how many answers to each prompt name the brand, and how many name each live competitor. Rows of domain ’’ are of all answers; [01d6abc81839]'
AS WITH
    toUUID('00000000-0000-0000-0000-000000000000') AS nobody,
    (
        SELECT groupArray(id)
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (NOT deleted)
    ) AS live,
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            mention_count > 0 AS named,
            arrayFilter((id, n) -> ((n > 0) AND has(live, id)), competitors.id, competitors.mention_count) AS rivals,
            arrayDistinct(arrayFilter((domain, is_cited) -> is_cited, citations.domain, citations.cited)) AS cited,
            arrayFilter((domain, is_cited, owned, competitor) -> (is_cited AND (NOT owned) AND (competitor = nobody)), citations.domain, citations.cited, citations.owned, citations.competitor_id) AS of_others
        FROM answers
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND answered AND (NOT endsWith(platform, '-shopping'))
    ),
    counted AS
    (
        SELECT
            toString(site) AS domain,
            prompt_id,
            sum(sign * counts) AS answers,
            sum(sign * (counts AND named)) AS brand_answers,
            sum(sign * (counts AND (NOT named) AND notEmpty(rivals))) AS only_rivals,
            sum(sign * (NOT named)) AS unnamed,
            sumMap(if(counts, rivals, []), arrayMap(id -> toInt64(sign), if(counts, rivals, []))) AS by_rival
        FROM
        (
            SELECT
                prompt_id,
                sign,
                named,
                rivals,
                site,
                (site = '') OR has(of_others, site) AS counts
            FROM landed
            ARRAY JOIN arrayPushFront(cited, '') AS site
        )
        GROUP BY
            site,
            prompt_id
        HAVING (answers > 0) OR (unnamed > 0)
    )
SELECT
    domain,
    prompt_id,
    answers,
    brand_answers,
    only_rivals,
    unnamed,
    by_rival.1 AS rivals,
    by_rival.2 AS rival_answers,
    countIf(answers > 0) OVER (PARTITION BY domain) AS prompt_count,
    if(prompt_count < 5, 0, if((greatest(prompt_count, 2) - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][greatest(prompt_count, 2) - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (greatest(prompt_count, 2) - 1))) / (greatest(prompt_count, 2) - 1))) / (greatest(prompt_count, 2) - 1))) / (greatest(prompt_count, 2) - 1)))) AS critical_t
FROM counted
ORDER BY
    domain ASC,
    prompt_id ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- advice_pages
CREATE VIEW advice_pages
COMMENT 'for each of some domains, at most five pages that are cited in answers that name a live competitor and not the brand. [b730f7e65fcb]'
AS WITH
    toUUID('00000000-0000-0000-0000-000000000000') AS nobody,
    ['forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    (
        SELECT groupArray(id)
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (NOT deleted)
    ) AS live
SELECT
    toString(c.domain) AS domain,
    c.url AS url,
    max(c.title) AS title,
    sum(sign * ((mention_count = 0) AND arrayExists((id, n) -> ((n > 0) AND has(live, id)), competitors.id, competitors.mention_count))) AS only_rivals,
    types[min(min(indexOf(types, c.listed_type))) OVER (PARTITION BY domain)] AS source_type
FROM answers
ARRAY JOIN citations AS c
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND has({domains:Array(String)}, c.domain) AND c.cited AND (NOT c.owned) AND (c.competitor_id = nobody)
GROUP BY
    domain,
    url
QUALIFY only_rivals > 0
ORDER BY
    domain ASC,
    only_rivals DESC,
    url ASC
LIMIT 5 BY domain
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- advice_searches
CREATE VIEW advice_searches
COMMENT 'the answers for which platforms issued searches, with these, the newest first. An id’s first row has them; the sum of its [9e33bb5a4b59]'
AS SELECT
    any(answers.platform) AS asked_platform,
    day,
    any(prompt_id) AS prompt,
    CAST(sum(sign * (mention_count > 0)) > 0, 'Bool') AS named,
    anyIf(search_queries, notEmpty(search_queries)) AS searches
FROM answers
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND answered AND (NOT endsWith(platform, '-shopping'))
GROUP BY
    day,
    id
HAVING (sum(sign) > 0) AND notEmpty(searches)
ORDER BY
    day DESC,
    id ASC;

-- advice_texts
CREATE VIEW advice_texts
COMMENT 'the texts of a brand’s answers on some days, by day and id, with whether the current reading names the brand or a live competitor. [633eeab4b45a]'
AS SELECT
    toUUID(net.id) AS id,
    prompt_id,
    prompt_text,
    platform,
    language,
    text,
    (named.1) > 0 AS names_brand,
    ((named.1) > 0) OR arrayExists((rival, mentions) -> ((mentions > 0) AND has({competitors:Array(UUID)}, rival)), named.2, named.3) AS names_tracked
FROM
(
    SELECT
        organization_id,
        brand_id,
        day,
        id,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.platform) AS platform,
        any(answers.language) AS language,
        argMinIf(answers.text, (answers.revision, answers.extract_version), sign = 1) AS text,
        argMaxIf((answers.mention_count, answers.competitors.id, answers.competitors.mention_count), (answers.revision, answers.extract_version), sign = 1) AS named
    FROM answers
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day >= {first_day:Date}) AND (day <= {last_day:Date}) AND answered AND (NOT endsWith(answers.platform, '-shopping'))
    GROUP BY
        organization_id,
        brand_id,
        day,
        id
    HAVING sum(sign) > 0
) AS net
ORDER BY
    day ASC,
    net.id ASC
SETTINGS optimize_aggregation_in_order = 1;

-- ai_crawlers
CREATE VIEW ai_crawlers
COMMENT 'requests of AI crawlers for a brand’s site, in all and by crawler, purpose, status and page. [7cbfa75ec7ff]'
AS WITH
    crawled AS
    (
        SELECT
            crawler,
            operator,
            platform,
            purpose,
            status,
            replaceRegexpOne(concat(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(path, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/'), '(.)/+$', '\\1') AS page,
            requests,
            verified,
            unverified,
            bytes
        FROM crawl_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
    ),
    counted AS
    (
        SELECT
            grouping(crawler, purpose, status, page) AS level,
            crawler,
            operator,
            platform,
            purpose,
            status,
            page,
            sum(crawled.requests) AS requests,
            sum(crawled.verified) AS verified,
            sum(crawled.unverified) AS unverified,
            sum(crawled.bytes) AS bytes
        FROM crawled
        GROUP BY
            GROUPING SETS (
                (crawler, operator, platform, purpose),
                (purpose),
                (status),
                (page),
                ())
        HAVING requests > 0
    ),
    facets AS
    (
        SELECT
            transform(level, [3, 11, 13, 14], ['crawler', 'purpose', 'status', 'page'], 'total') AS facet,
            multiIf(level = 3, toString(crawler), level = 11, toString(counted.purpose), level = 13, toString(status), page) AS name,
            toString(counted.operator) AS operator,
            toString(counted.platform) AS platform,
            if(level = 3, toString(counted.purpose), '') AS purpose,
            requests,
            verified,
            unverified,
            bytes
        FROM counted
    )
SELECT
    facet,
    name,
    operator,
    platform,
    purpose,
    requests,
    verified,
    unverified,
    bytes
FROM facets
ORDER BY
    facet ASC,
    requests DESC,
    name ASC,
    operator ASC,
    platform ASC,
    purpose ASC
LIMIT 10 BY
    facet,
    if(facet = 'page', '', name),
    operator,
    platform,
    purpose
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- ai_crawlers_last_30_days
CREATE VIEW ai_crawlers_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `facet` String,
    `name` String,
    `operator` LowCardinality(String),
    `platform` LowCardinality(String),
    `purpose` String,
    `requests` Int64,
    `verified` Int64,
    `unverified` Int64,
    `bytes` Int64
)
COMMENT 'ai_crawlers of every brand, over the last 30 days (UTC) up to today, without filters. [2301306c0e54]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        crawled AS
        (
            SELECT
                organization_id,
                brand_id,
                crawler,
                operator,
                platform,
                purpose,
                status,
                replaceRegexpOne(concat(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(path, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/'), '(.)/+$', '\\1') AS page,
                requests,
                verified,
                unverified,
                bytes
            FROM crawl_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform)))
        ),
        counted AS
        (
            SELECT
                organization_id,
                brand_id,
                grouping(crawler, purpose, status, page) AS level,
                crawler,
                operator,
                platform,
                purpose,
                status,
                page,
                sum(crawled.requests) AS requests,
                sum(crawled.verified) AS verified,
                sum(crawled.unverified) AS unverified,
                sum(crawled.bytes) AS bytes
            FROM crawled
            GROUP BY
                GROUPING SETS (
                    (organization_id, brand_id, crawler, operator, platform, purpose),
                    (organization_id, brand_id, purpose),
                    (organization_id, brand_id, status),
                    (organization_id, brand_id, page),
                    (organization_id, brand_id))
            HAVING requests > 0
        ),
        facets AS
        (
            SELECT
                organization_id,
                brand_id,
                transform(level, [3, 11, 13, 14], ['crawler', 'purpose', 'status', 'page'], 'total') AS facet,
                multiIf(level = 3, toString(crawler), level = 11, toString(counted.purpose), level = 13, toString(status), page) AS name,
                toString(counted.operator) AS operator,
                toString(counted.platform) AS platform,
                if(level = 3, toString(counted.purpose), '') AS purpose,
                requests,
                verified,
                unverified,
                bytes
            FROM counted
        )
    SELECT
        organization_id,
        brand_id,
        facet,
        name,
        operator,
        platform,
        purpose,
        requests,
        verified,
        unverified,
        bytes
    FROM facets
    ORDER BY
        facet ASC,
        requests DESC,
        name ASC,
        operator ASC,
        platform ASC,
        purpose ASC
    LIMIT 10 BY
        organization_id,
        brand_id,
        facet,
        if(facet = 'page', '', name),
        operator,
        platform,
        purpose
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- ai_pages
CREATE VIEW ai_pages
COMMENT 'the pages of a brand’s site that AI platforms crawl, cite or send visits to, and the goals that such visits reach on them. [8f8342c74800]'
AS WITH
    pages AS
    (
        SELECT
            page,
            sum(crawl_count) AS crawls,
            sum(citation_count) AS citations,
            sum(view_count) AS visits,
            sum(session_count) AS sessions,
            sum(goal_count) AS goals
        FROM
        (
            SELECT
                *,
                trimRight(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(extract(address, '^(?:https?://)?(?:www[.])?([^?]*)'), '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/') AS page
            FROM
            (
                SELECT
                    concat(host, path) AS address,
                    sum(requests) AS crawl_count,
                    0 AS citation_count,
                    0 AS view_count,
                    0 AS session_count,
                    0 AS goal_count
                FROM crawl_daily
                WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
                GROUP BY
                    host,
                    path
                UNION ALL
                SELECT
                    url AS address,
                    0,
                    sum(citation_daily.citations),
                    0,
                    0,
                    0
                FROM citation_daily
                WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (source_type = 'owned') AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
                GROUP BY address
                UNION ALL
                SELECT
                    concat(host, path) AS address,
                    0,
                    0,
                    sumIf(visit_daily.visits, event = 'view'),
                    sumIf(visit_daily.sessions, event = 'view'),
                    sumIf(visit_daily.visits, event = 'goal')
                FROM visit_daily
                WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
                GROUP BY
                    host,
                    path
            ) AS parts
        ) AS addresses
        GROUP BY page
    ),
    steps AS
    (
        SELECT
            *,
            [crawls > 0, citations > 0, visits > 0, goals > 0, (crawls > 0) > citations, (citations > 0) > visits, greatest(crawls, citations, visits, goals) > 0] AS reached,
            indexOf(['crawled', 'cited', 'visited', 'converted', 'crawled_never_cited', 'cited_never_visited', ''], {step:String}) AS nth
        FROM pages
    ),
    counted AS
    (
        SELECT
            *,
            sumForEach(reached) OVER () AS counts
        FROM steps
    )
SELECT
    page,
    crawls,
    citations,
    visits,
    sessions,
    goals,
    counts[1] AS crawled,
    counts[2] AS cited,
    counts[3] AS visited,
    counts[4] AS converted,
    counts[5] AS crawled_never_cited,
    counts[6] AS cited_never_visited,
    counts[nth] AS total
FROM counted
WHERE reached[nth]
ORDER BY
    [sessions, citations, crawls, goals, visits][transform({sort_by:String}, ['sessions', 'citations', 'crawls', 'goals'], [1, 2, 3, 4], 5)] DESC,
    visits DESC,
    citations DESC,
    crawls DESC,
    page ASC
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- ai_traffic
CREATE VIEW ai_traffic
COMMENT 'visits and sessions that AI platforms sent to a brand’s site, in all and by platform, page and country, and goals. [1e32aef42e6a]'
AS SELECT
    transform(grouping(platform, page, country, goal), [7, 10, 11, 13, 14], ['platform', 'landing', 'page', 'country', 'goal'], 'total') AS facet,
    concat(platform, page, country, goal) AS name,
    currency,
    sum(visited.visits) AS visits,
    sum(visited.sessions) AS sessions,
    sum(visited.value) AS value,
    count() OVER (PARTITION BY facet) AS of_facet
FROM
(
    SELECT
        platform,
        replaceRegexpOne(concat(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(path, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/'), '(.)/+$', '\\1') AS page,
        country,
        event,
        goal,
        currency,
        visit_daily.visits AS visits,
        visit_daily.sessions AS sessions,
        visit_daily.value AS value
    FROM visit_daily
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
) AS visited
GROUP BY
    GROUPING SETS (
        (platform, event),
        (page, goal, event),
        (page, event),
        (country, event),
        (goal, currency, event),
        (event))
HAVING ((facet = 'goal') = (event = 'goal')) AND (if(facet = 'landing', sessions, visits) > 0)
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY if(facet = 'landing', sessions, visits) DESC, name ASC, currency ASC) <= transform(facet, ['page', 'landing', 'goal'], [10, 10, 100], 1000)
ORDER BY
    facet ASC,
    if(facet = 'landing', sessions, visits) DESC,
    name ASC,
    currency ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- ai_traffic_last_30_days
CREATE VIEW ai_traffic_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `facet` String,
    `name` String,
    `currency` LowCardinality(String),
    `visits` Int64,
    `sessions` Int64,
    `value` Decimal(38, 6),
    `of_facet` UInt64
)
COMMENT 'ai_traffic of every brand, over the last 30 days (UTC) up to today, without filters. [6c98b7913f1f]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    SELECT
        organization_id,
        brand_id,
        transform(grouping(platform, page, country, goal), [7, 10, 11, 13, 14], ['platform', 'landing', 'page', 'country', 'goal'], 'total') AS facet,
        concat(platform, page, country, goal) AS name,
        currency,
        sum(visited.visits) AS visits,
        sum(visited.sessions) AS sessions,
        sum(visited.value) AS value,
        count() OVER (PARTITION BY organization_id, brand_id, facet) AS of_facet
    FROM
    (
        SELECT
            organization_id,
            brand_id,
            platform,
            replaceRegexpOne(concat(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(path, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/'), '(.)/+$', '\\1') AS page,
            country,
            event,
            goal,
            currency,
            visit_daily.visits AS visits,
            visit_daily.sessions AS sessions,
            visit_daily.value AS value
        FROM visit_daily
        WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform)))
    ) AS visited
    GROUP BY
        GROUPING SETS (
            (organization_id, brand_id, platform, event),
            (organization_id, brand_id, page, goal, event),
            (organization_id, brand_id, page, event),
            (organization_id, brand_id, country, event),
            (organization_id, brand_id, goal, currency, event),
            (organization_id, brand_id, event))
    HAVING ((facet = 'goal') = (event = 'goal')) AND (if(facet = 'landing', sessions, visits) > 0)
    QUALIFY row_number() OVER (PARTITION BY organization_id, brand_id, facet ORDER BY if(facet = 'landing', sessions, visits) DESC, name ASC, currency ASC) <= transform(facet, ['page', 'landing', 'goal'], [10, 10, 100], 1000)
    ORDER BY
        facet ASC,
        if(facet = 'landing', sessions, visits) DESC,
        name ASC,
        currency ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- answer_citations
CREATE VIEW answer_citations
COMMENT 'as citation_sources, answer by answer, for what citation_daily does not have: prompts, and pages only consulted. [161f096b5b5f]'
AS WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    landed AS
    (
        SELECT
            sign,
            model,
            citations.url,
            citations.title,
            citations.domain,
            citations.cited,
            arrayMap((owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed), citations.owned, citations.competitor_id, citations.listed_type) AS source_types
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id)) AND (empty({mentioned:Array(Bool)}) OR has({mentioned:Array(Bool)}, CAST(mention_count > 0, 'Bool')))
    ),
    selected AS
    (
        SELECT
            *,
            arrayMap((is_cited, type) -> ((is_cited != {consulted:Bool}) AND has(['all', type, if((type IN ('owned', 'competitor')), '', 'external')], {source_filter:String})), citations.cited, source_types) AS passes
        FROM landed
    ),
    entries AS
    (
        SELECT
            domain,
            url,
            title,
            source_type AS type,
            model AS requested,
            sumIf(sign, url = '') AS answers,
            sumIf(sign, url != '') AS citations,
            sumIf(sign, of_answer = 1) AS citing_answers,
            sumIf(sign, of_domain = 1) AS citing_domain
        FROM selected
        ARRAY JOIN
            arrayPushFront(selected.citations.url, '') AS url,
            arrayPushFront(selected.citations.title, '') AS title,
            arrayPushFront(selected.citations.domain, '') AS domain,
            arrayPushFront(source_types, '') AS source_type,
            arrayPushFront(passes, true) AS is_selected,
            arrayPushFront(arrayEnumerateUniq(passes), 0) AS of_answer,
            arrayPushFront(arrayEnumerateUniq(passes, selected.citations.domain), 0) AS of_domain
        WHERE is_selected
        GROUP BY
            domain,
            url,
            title,
            type,
            requested
        HAVING sum(sign) > 0
    ),
    sums AS
    (
        SELECT
            grouping(entries.url, entries.domain) AS level,
            min(entries.domain) AS domain,
            entries.url AS url,
            minIf(entries.title, entries.title != '') AS title,
            min(indexOf(types, entries.type)) AS nth_type,
            arraySort(groupUniqArrayIf(requested, entries.citations > 0)) AS models,
            max(sum(entries.answers)) OVER () AS answers,
            sum(entries.citations) AS citations,
            sum(entries.citing_answers) AS citing_answers,
            sum(citing_domain) AS citing_domain,
            countIf(level = 2) OVER () AS domains,
            countIf(level = 1) OVER () AS urls,
            sumForEach(arrayMap(nth -> ((level = 2) AND (nth_type = nth)), arrayEnumerate(types))) OVER () AS domains_by_type,
            arrayResize(sumForEach(arrayMap(type -> if(entries.type = type, entries.citations, 0), types)), 7) AS citations_by_type
        FROM entries
        GROUP BY
            GROUPING SETS (
                (entries.domain),
                (entries.url),
                ())
        HAVING (level = 3) OR (citations > 0)
        ORDER BY
            level DESC,
            citations DESC,
            url ASC,
            domain ASC
        LIMIT {limit:UInt32} BY level
    )
SELECT
    ['url', 'domain', 'total'][level] AS facet,
    if(facet = 'total', '', sums.domain) AS domain,
    url,
    if(facet = 'url', sums.title, '') AS title,
    if(facet = 'total', '', types[nth_type]) AS source_type,
    models,
    answers,
    citations,
    [citations, citing_domain, sums.citing_answers][level] AS citing_answers,
    round(((100 * citing_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS usage_pct,
    round((citations / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS citations_per_answer,
    domains,
    urls,
    if(facet = 'total', types, []) AS source_types,
    if(facet = 'total', sums.domains_by_type, []) AS domains_by_type,
    arrayMap(n -> (round(((100 * n) / nullIf(domains, 0)) * 1.00000000001, 1) + 0), domains_by_type) AS pct_by_type,
    if(facet = 'total', sums.citations_by_type, []) AS citations_by_type,
    arrayMap(n -> (round(((100 * n) / nullIf(citations, 0)) * 1.00000000001, 1) + 0), citations_by_type) AS citations_pct_by_type
FROM sums
ORDER BY
    level DESC,
    citations DESC,
    url ASC,
    domain ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- answer_daily
CREATE TABLE answer_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `served_model` LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    `provider` LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    `runs` Int64 COMMENT 'answers, surfaces without one and given-up runs',
    `given_up` Int64 COMMENT 'runs that ended without an answer',
    `not_shown` Int64 COMMENT 'runs whose surface was seen, and had no answer',
    `answers` Int64 COMMENT 'answers: the divisor of rates and averages',
    `mention_answers` Int64 COMMENT 'answers that mention the entity',
    `citation_answers` Int64 COMMENT 'answers that cite its pages',
    `inverse_position` Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths',
    `mentions` Int64 COMMENT 'occurrences of its names',
    `citations` Int64 COMMENT 'citations of its pages',
    `visibility` Int64 COMMENT 'sum of visibility_score over all answers',
    `visibility_named` Int64 COMMENT 'sum of visibility_score over mention_answers'
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, provider)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824, index_granularity = 8192
COMMENT 'Sums of the answers of a brand by day and every filter, without shopping platforms. Always sum: a key may have several rows.';

-- answer_daily_view
CREATE MATERIALIZED VIEW answer_daily_view TO answer_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `served_model` LowCardinality(String),
    `provider` LowCardinality(String),
    `runs` Int64,
    `given_up` Int64,
    `not_shown` Int64,
    `answers` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `inverse_position` Int64,
    `mentions` Int64,
    `citations` Int64,
    `visibility` Int64,
    `visibility_named` Int64
)
AS SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    served_model,
    provider,
    sum(sign) AS runs,
    sum(sign * landed.given_up) AS given_up,
    sum(sign * (finish = 'not_shown')) AS not_shown,
    sum(sign * answered) AS answers,
    sum(sign * (mention_count > 0)) AS mention_answers,
    sum(sign * (citation_count > 0)) AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position)))) AS inverse_position,
    sum(sign * mention_count) AS mentions,
    sum(sign * citation_count) AS citations,
    sum(sign * visibility_score) AS visibility,
    sum(sign * if(mention_count > 0, visibility_score, 0)) AS visibility_named
FROM answers AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    served_model,
    provider;

-- answers
CREATE TABLE answers
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `id` UUID COMMENT 'id of the run, in all its rows',
    `sign` Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value',
    `revision` Int64 COMMENT 'revision of the brand by which it was read',
    `extract_version` UInt16 COMMENT 'version of the extractor that read it',
    `log_topic` LowCardinality(String) COMMENT 'position of the record on the log',
    `log_partition` Int32 COMMENT 'position of the record on the log',
    `log_offset` Int64 COMMENT 'position of the record on the log' CODEC(Delta(8), ZSTD(1)),
    `answered_at` DateTime64(3, 'UTC') COMMENT 'UTC time of the answer, or when the run was given up' CODEC(Delta(8), ZSTD(1)),
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `served_model` LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    `provider` LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `language` LowCardinality(String) COMMENT 'requested language, empty: unknown',
    `surface` LowCardinality(String) COMMENT 'api or consumer, empty: unknown',
    `sample` Int64 COMMENT '1-based, of otherwise equal runs',
    `prompt_id` UUID COMMENT 'prompt that was asked',
    `prompt_set_id` UUID COMMENT 'set of the prompt when it was asked',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `prompt_text` String COMMENT 'text of the prompt' CODEC(ZSTD(1)),
    `is_branded` Nullable(Bool) COMMENT 'branded as set on the prompt, NULL: not set',
    `branded` Bool COMMENT 'the prompt names the brand',
    `job_id` UUID COMMENT 'job of the run, nil: none',
    `simulated` Bool COMMENT 'made by the simulator',
    `given_up` Bool COMMENT 'the run ended without an answer. Counted in runs and given_up only',
    `given_up_class` LowCardinality(String) COMMENT 'rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered or changed_shape, empty: not given up',
    `given_up_error` String COMMENT 'error of the platform, empty: not given up' CODEC(ZSTD(1)),
    `attempts` UInt32 COMMENT 'attempts until the run ended',
    `latency_ms` Int64 COMMENT 'milliseconds until the answer, 0: unknown',
    `finish` LowCardinality(String) COMMENT 'complete, truncated, content_filtered or not_shown, empty: unknown',
    `answered` Bool MATERIALIZED (NOT given_up) AND (finish != 'not_shown') COMMENT 'the run has an answer. A surface that had none is counted in runs and not_shown only',
    `text` String COMMENT 'text of the answer. First row of an id only' CODEC(ZSTD(3)),
    `search_queries` Array(String) COMMENT 'what the platform searched for. First row only' CODEC(ZSTD(1)),
    `raw_citations.url` Array(String) COMMENT 'citations as returned, in order. First row only',
    `raw_citations.title` Array(String) COMMENT 'title',
    `raw_citations.cited` Array(Bool) COMMENT 'false: only consulted',
    `raw_products` String COMMENT 'shopping cards as returned, JSON. First row only' CODEC(ZSTD(1)),
    `input_tokens` Int64 COMMENT 'usage of the run. First row only',
    `output_tokens` Int64 COMMENT 'usage of the run. First row only',
    `searches` Int64 COMMENT 'usage of the run. First row only',
    `cost_usd` Decimal(18, 6) COMMENT 'usage of the run. First row only',
    `brand_name` String COMMENT 'name of the brand at the reading' CODEC(ZSTD(1)),
    `mention_count` UInt32 COMMENT 'occurrences of its names in the text',
    `position` UInt32 COMMENT 'rank among brand and competitors by first mention, 0: not mentioned',
    `citation_count` UInt32 COMMENT 'citations of its pages',
    `visibility_score` UInt8 COMMENT 'legacy intensity, 0 to 100',
    `sentiment` LowCardinality(String) COMMENT 'positive, neutral, negative or unknown',
    `sentiment_method` LowCardinality(String) COMMENT 'method of the sentiment',
    `competitors.id` Array(UUID) COMMENT 'competitors at the reading, mentioned or not',
    `competitors.name` Array(String) COMMENT 'name at the reading',
    `competitors.mention_count` Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.position` Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.citation_count` Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.visibility_score` Array(UInt16) COMMENT 'of each competitor, as of the brand',
    `competitors.sentiment` Array(String) COMMENT 'of each competitor, as of the brand',
    `citations.url` Array(String) COMMENT 'URLs of the answer, normalised, each once',
    `citations.title` Array(String) COMMENT 'first non-empty title, empty: none',
    `citations.cited` Array(Bool) COMMENT 'false: only consulted, in no figure',
    `citations.host` Array(String) COMMENT 'host without www.',
    `citations.domain` Array(String) COMMENT 'of each URL, as in citations',
    `citations.listed_type` Array(String) COMMENT 'of each URL, as in citations',
    `citations.owned` Array(Bool) COMMENT 'of each URL, as in citations',
    `citations.competitor_id` Array(UUID) COMMENT 'of each URL, as in citations',
    `cards.position` Array(UInt32) COMMENT 'of each card, as in shopping_cards',
    `cards.title` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.brand` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.price_amount` Array(Nullable(Decimal(18, 4))) COMMENT 'of each card, as in shopping_cards',
    `cards.price_currency` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.image_url` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant_url` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant_domain` Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.rating` Array(Nullable(Float64)) COMMENT 'of each card, as in shopping_cards',
    `cards.review_count` Array(Nullable(Int64)) COMMENT 'of each card, as in shopping_cards',
    `cards.matched_id` Array(UUID) COMMENT 'of each card, as in shopping_cards',
    `cards.role` Array(String) COMMENT 'of each card, as in shopping_cards',
    PROJECTION readings
    (
        SELECT
            organization_id,
            brand_id,
            day,
            revision,
            extract_version,
            sum(sign)
        GROUP BY
            organization_id,
            brand_id,
            day,
            revision,
            extract_version
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, lightweight_mutation_projection_mode = 'rebuild', index_granularity_bytes = 2097152, index_granularity = 8192
COMMENT 'Every record of every run with its reading. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

-- answers_found
CREATE VIEW answers_found
COMMENT 'the answers that pass the filters, newest first, then by id as text, at most limit after a cursor. [eebc15e4e23b]'
AS WITH
    toDateTime64(if({before:String} = '', '2149-01-01 00:00:00.000', {before:String}), 3, 'UTC') AS cursor_time,
    recorded AS
    (
        SELECT id
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({names:Array(String)}) OR arrayExists(name -> ((position(text, name) > 0) AND match(text, concat('(?:^|[^\\pL\\pN])', regexpQuoteMeta(name), '(?:$|[^\\pL\\pN])'))), {names:Array(String)})) AND (empty({searches:Array(String)}) OR hasAny(search_queries, {searches:Array(String)}))
    ),
    passing AS
    (
        SELECT
            day,
            id,
            answered_at,
            if({sort:String} = 'prompt', toString(prompt_id), '') AS prompt,
            sign
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (NOT given_up) AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id)) AND (empty({samples:Array(Int64)}) OR has({samples:Array(Int64)}, sample)) AND (empty({shown:Array(Bool)}) OR has({shown:Array(Bool)}, answered)) AND (empty({sentiments:Array(String)}) OR has({sentiments:Array(String)}, sentiment)) AND (empty({mentioned:Array(Bool)}) OR has({mentioned:Array(Bool)}, CAST(mention_count > 0, 'Bool'))) AND (empty({cited:Array(Bool)}) OR has({cited:Array(Bool)}, CAST(citation_count > 0, 'Bool'))) AND (empty({competitors:Array(UUID)}) OR arrayExists((rival, mentions) -> ((mentions > 0) AND has({competitors:Array(UUID)}, rival)), competitors.id, competitors.mention_count)) AND (empty({domains:Array(String)}) OR arrayExists((domain, is_cited) -> (is_cited AND has({domains:Array(String)}, domain)), citations.domain, citations.cited)) AND (empty({urls:Array(String)}) OR arrayExists((url, is_cited) -> (is_cited AND has({urls:Array(String)}, url)), citations.url, citations.cited)) AND (empty({pages:Array(String)}) OR arrayExists((url, is_cited) -> (is_cited AND has({pages:Array(String)}, trimRight(extract(url, '^https?://(?:www[.])?([^?]*)'), '/'))), citations.url, citations.cited)) AND (empty({categories:Array(String)}) OR arrayExists((is_cited, owned, rival, listed) -> (is_cited AND has({categories:Array(String)}, multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed))), citations.cited, citations.owned, citations.competitor_id, citations.listed_type)) AND ((empty({names:Array(String)}) AND empty({searches:Array(String)})) OR (id IN (recorded)))
    ),
    (
        SELECT
            maxIf(day, (day < toDate(cursor_time)) AND (running >= {limit:UInt32})),
            if(countIf(day <= toDate(cursor_time)) > 0, toDate(cursor_time), {date_to:Date}),
            toUInt64(sum(n)),
            any(cursor_time)
        FROM
        (
            SELECT
                day,
                sum(sign) AS n,
                sumIf(n, day < toDate(cursor_time)) OVER (ORDER BY day DESC) AS running
            FROM passing
            GROUP BY day
            HAVING n > 0
        )
    ) AS page
SELECT *
FROM
(
    SELECT
        day,
        id,
        answered_at,
        prompt,
        CAST((toDate(page.4), prompt, page.4, toString(id)) > (day, {after_prompt:String}, answered_at, {after_answer:String}), 'Bool') AS comes_after,
        page.3 AS total
    FROM passing
    WHERE (day >= (page.1)) AND (day <= (page.2))
    GROUP BY
        day,
        id,
        answered_at,
        prompt
    HAVING sum(sign) > 0
)
ORDER BY
    comes_after DESC,
    day DESC,
    prompt ASC,
    answered_at DESC,
    toString(id) ASC
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brand_prompt_daily
CREATE TABLE brand_prompt_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `prompt_id` UUID COMMENT 'prompt that was asked',
    `served_model` LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    `provider` LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    `runs` Int64 COMMENT 'answers, surfaces without one and given-up runs',
    `given_up` Int64 COMMENT 'runs that ended without an answer',
    `answers` Int64 COMMENT 'answers: the divisor of rates and averages',
    `mention_answers` Int64 COMMENT 'answers that mention the entity',
    `citation_answers` Int64 COMMENT 'answers that cite its pages',
    `inverse_position` Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths'
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, provider)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt. Always sum: a key may have several rows.';

-- brand_prompt_daily_view
CREATE MATERIALIZED VIEW brand_prompt_daily_view TO brand_prompt_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `prompt_id` UUID,
    `served_model` LowCardinality(String),
    `provider` LowCardinality(String),
    `runs` Int64,
    `given_up` Int64,
    `answers` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `inverse_position` Int64
)
AS SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    served_model,
    provider,
    sum(sign) AS runs,
    sum(sign * landed.given_up) AS given_up,
    sum(sign * answered) AS answers,
    sum(sign * (mention_count > 0)) AS mention_answers,
    sum(sign * (citation_count > 0)) AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position)))) AS inverse_position
FROM answers AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    served_model,
    provider;

-- brand_visibility
CREATE VIEW brand_visibility
COMMENT 'a brand’s figures over the filtered answers, one row per group and bucket that have runs. [0e8685aaf1fd]'
AS WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    prompts AS
    (
        WITH
            entity_id = {brand_id:UUID} AS own
        SELECT
            if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
            multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
            prompt_id,
            sum(entity_prompt_daily.answers) AS answers,
            sum(entity_prompt_daily.given_up) AS given_up,
            sum(entity_prompt_daily.not_shown) AS not_shown,
            sumIf(entity_prompt_daily.mention_answers, own) AS mention_answers,
            sumIf(entity_prompt_daily.citation_answers, own) AS citation_answers,
            sumIf(entity_prompt_daily.inverse_position, own) AS inverse_position,
            sumIf(entity_prompt_daily.mentions, own) AS mentions,
            sumIf(entity_prompt_daily.citations, own) AS citations,
            sumIf(entity_prompt_daily.visibility, own) AS visibility,
            sumIf(entity_prompt_daily.mention_answers, NOT own) AS rivals_named,
            sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility,
            ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id)) AND (own OR has(live, entity_id))
        GROUP BY
            group_key,
            bucket,
            prompt_id
    ),
    sums AS
    (
        SELECT
            group_key,
            bucket,
            countIf(prompts.answers > 0) AS prompt_count,
            countIf((prompts.mention_answers + prompts.citation_answers) > 0) AS visible_prompts,
            sum(prompts.answers) AS answers,
            sum(prompts.given_up) AS given_up,
            sum(prompts.not_shown) AS not_shown,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.citation_answers) AS citation_answers,
            sum(prompts.inverse_position) AS inverse_position,
            sum(prompts.mentions) AS mentions,
            sum(prompts.citations) AS citations,
            sum(prompts.visibility) AS visibility,
            sum(prompts.rivals_named) AS rivals_named,
            sum(prompts.rivals_visibility) AS rivals_visibility,
            sum(points * points) AS yy,
            sum(points * prompts.answers) AS yn,
            sum(prompts.answers * prompts.answers) AS nn,
            sum(prompts.mention_answers * prompts.mention_answers) AS mm,
            sum(prompts.mention_answers * prompts.answers) AS mn
        FROM prompts
        GROUP BY
            group_key,
            bucket
        HAVING ((answers + given_up) + not_shown) > 0
    ),
    measured AS
    (
        SELECT
            *,
            [(((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880)) / nullIf(answers, 0), (100 * mention_answers) / nullIf(answers, 0)] AS means,
            arrayMap((mean, y, z) -> arrayMap(side -> (round(multiIf(if(notEmpty({prompts:Array(UUID)}), answers, prompt_count) < 5, NULL, notEmpty({prompts:Array(UUID)}), (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(0, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((y - ((2 * mean) * z)) + ((mean * mean) * nn)) - (1e-12 * y)))) / answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [yy, 10000 * mm], [yn, 100 * mn]) AS intervals
        FROM sums
    )
SELECT
    group_key,
    bucket,
    answers,
    given_up,
    not_shown,
    mention_answers,
    citation_answers,
    mentions,
    citations,
    prompt_count,
    visible_prompts,
    round(((100 * visible_prompts) / nullIf(prompt_count, 0)) * 1.00000000001, 1) + 0 AS visibility_rate_pct,
    round((visibility / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
    round((rivals_visibility / nullIf(rivals_named, 0)) * 1.00000000001, 1) + 0 AS avg_competitor_score,
    round(((inverse_position / 5354228880) / nullIf(answers, 0)) * 1.00000000001, 4) + 0 AS position_factor,
    round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
    (intervals[1])[1] AS interval_low,
    (intervals[1])[2] AS interval_high,
    round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    (intervals[2])[1] AS mention_rate_low,
    (intervals[2])[2] AS mention_rate_high
FROM measured
ORDER BY
    group_key ASC,
    bucket ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brand_visibility_by_day_last_30_days
CREATE VIEW brand_visibility_by_day_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `group_key` String,
    `bucket` Date,
    `answers` Int64,
    `given_up` Int64,
    `not_shown` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `mentions` Int64,
    `citations` Int64,
    `prompt_count` UInt64,
    `visible_prompts` UInt64,
    `visibility_rate_pct` Nullable(Float64),
    `avg_visibility` Nullable(Float64),
    `avg_competitor_score` Nullable(Float64),
    `position_factor` Nullable(Float64),
    `ai_visibility_score` Nullable(Float64),
    `interval_low` Nullable(Float64),
    `interval_high` Nullable(Float64),
    `mention_rate_pct` Nullable(Float64),
    `mention_rate_low` Nullable(Float64),
    `mention_rate_high` Nullable(Float64)
)
COMMENT 'brand_visibility of every brand by day, over the last 30 days (UTC) up to today, without filters. [4650fd36399d]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        (
            SELECT groupArray(id)
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND (NOT deleted)
        ) AS live,
        prompts AS
        (
            WITH
                entity_id = brand_id AS own
            SELECT
                organization_id,
                brand_id,
                if('' = '', '', multiIf('' = 'platform', toString(lower(platform)), '' = 'model', toString(lower(model)), '' = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
                multiIf('day' = 'day', day, 'day' = 'week', toMonday(day), 'day' = 'month', toStartOfMonth(day), (toDate(now('UTC')) - 29)) AS bucket,
                prompt_id,
                sum(entity_prompt_daily.answers) AS answers,
                sum(entity_prompt_daily.given_up) AS given_up,
                sum(entity_prompt_daily.not_shown) AS not_shown,
                sumIf(entity_prompt_daily.mention_answers, own) AS mention_answers,
                sumIf(entity_prompt_daily.citation_answers, own) AS citation_answers,
                sumIf(entity_prompt_daily.inverse_position, own) AS inverse_position,
                sumIf(entity_prompt_daily.mentions, own) AS mentions,
                sumIf(entity_prompt_daily.citations, own) AS citations,
                sumIf(entity_prompt_daily.visibility, own) AS visibility,
                sumIf(entity_prompt_daily.mention_answers, NOT own) AS rivals_named,
                sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility,
                ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points
            FROM entity_prompt_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), prompt_id)) AND (own OR has(live, entity_id))
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                bucket,
                prompt_id
        ),
        sums AS
        (
            SELECT
                organization_id,
                brand_id,
                group_key,
                bucket,
                countIf(prompts.answers > 0) AS prompt_count,
                countIf((prompts.mention_answers + prompts.citation_answers) > 0) AS visible_prompts,
                sum(prompts.answers) AS answers,
                sum(prompts.given_up) AS given_up,
                sum(prompts.not_shown) AS not_shown,
                sum(prompts.mention_answers) AS mention_answers,
                sum(prompts.citation_answers) AS citation_answers,
                sum(prompts.inverse_position) AS inverse_position,
                sum(prompts.mentions) AS mentions,
                sum(prompts.citations) AS citations,
                sum(prompts.visibility) AS visibility,
                sum(prompts.rivals_named) AS rivals_named,
                sum(prompts.rivals_visibility) AS rivals_visibility,
                sum(points * points) AS yy,
                sum(points * prompts.answers) AS yn,
                sum(prompts.answers * prompts.answers) AS nn,
                sum(prompts.mention_answers * prompts.mention_answers) AS mm,
                sum(prompts.mention_answers * prompts.answers) AS mn
            FROM prompts
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                bucket
            HAVING ((answers + given_up) + not_shown) > 0
        ),
        measured AS
        (
            SELECT
                *,
                [(((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880)) / nullIf(answers, 0), (100 * mention_answers) / nullIf(answers, 0)] AS means,
                arrayMap((mean, y, z) -> arrayMap(side -> (round(multiIf(if(notEmpty(CAST([], 'Array(UUID)')), answers, prompt_count) < 5, NULL, notEmpty(CAST([], 'Array(UUID)')), (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(0, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((y - ((2 * mean) * z)) + ((mean * mean) * nn)) - (1e-12 * y)))) / answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [yy, 10000 * mm], [yn, 100 * mn]) AS intervals
            FROM sums
        )
    SELECT
        organization_id,
        brand_id,
        group_key,
        bucket,
        answers,
        given_up,
        not_shown,
        mention_answers,
        citation_answers,
        mentions,
        citations,
        prompt_count,
        visible_prompts,
        round(((100 * visible_prompts) / nullIf(prompt_count, 0)) * 1.00000000001, 1) + 0 AS visibility_rate_pct,
        round((visibility / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
        round((rivals_visibility / nullIf(rivals_named, 0)) * 1.00000000001, 1) + 0 AS avg_competitor_score,
        round(((inverse_position / 5354228880) / nullIf(answers, 0)) * 1.00000000001, 4) + 0 AS position_factor,
        round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
        (intervals[1])[1] AS interval_low,
        (intervals[1])[2] AS interval_high,
        round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
        (intervals[2])[1] AS mention_rate_low,
        (intervals[2])[2] AS mention_rate_high
    FROM measured
    ORDER BY
        group_key ASC,
        bucket ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brand_visibility_last_30_days
CREATE VIEW brand_visibility_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `group_key` String,
    `bucket` Date,
    `answers` Int64,
    `given_up` Int64,
    `not_shown` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `mentions` Int64,
    `citations` Int64,
    `prompt_count` UInt64,
    `visible_prompts` UInt64,
    `visibility_rate_pct` Nullable(Float64),
    `avg_visibility` Nullable(Float64),
    `avg_competitor_score` Nullable(Float64),
    `position_factor` Nullable(Float64),
    `ai_visibility_score` Nullable(Float64),
    `interval_low` Nullable(Float64),
    `interval_high` Nullable(Float64),
    `mention_rate_pct` Nullable(Float64),
    `mention_rate_low` Nullable(Float64),
    `mention_rate_high` Nullable(Float64)
)
COMMENT 'brand_visibility of every brand, over the last 30 days (UTC) up to today, without filters. [46562271c8ac]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        (
            SELECT groupArray(id)
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND (NOT deleted)
        ) AS live,
        prompts AS
        (
            WITH
                entity_id = brand_id AS own
            SELECT
                organization_id,
                brand_id,
                if('' = '', '', multiIf('' = 'platform', toString(lower(platform)), '' = 'model', toString(lower(model)), '' = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
                multiIf('window' = 'day', day, 'window' = 'week', toMonday(day), 'window' = 'month', toStartOfMonth(day), (toDate(now('UTC')) - 29)) AS bucket,
                prompt_id,
                sum(entity_prompt_daily.answers) AS answers,
                sum(entity_prompt_daily.given_up) AS given_up,
                sum(entity_prompt_daily.not_shown) AS not_shown,
                sumIf(entity_prompt_daily.mention_answers, own) AS mention_answers,
                sumIf(entity_prompt_daily.citation_answers, own) AS citation_answers,
                sumIf(entity_prompt_daily.inverse_position, own) AS inverse_position,
                sumIf(entity_prompt_daily.mentions, own) AS mentions,
                sumIf(entity_prompt_daily.citations, own) AS citations,
                sumIf(entity_prompt_daily.visibility, own) AS visibility,
                sumIf(entity_prompt_daily.mention_answers, NOT own) AS rivals_named,
                sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility,
                ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points
            FROM entity_prompt_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), prompt_id)) AND (own OR has(live, entity_id))
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                bucket,
                prompt_id
        ),
        sums AS
        (
            SELECT
                organization_id,
                brand_id,
                group_key,
                bucket,
                countIf(prompts.answers > 0) AS prompt_count,
                countIf((prompts.mention_answers + prompts.citation_answers) > 0) AS visible_prompts,
                sum(prompts.answers) AS answers,
                sum(prompts.given_up) AS given_up,
                sum(prompts.not_shown) AS not_shown,
                sum(prompts.mention_answers) AS mention_answers,
                sum(prompts.citation_answers) AS citation_answers,
                sum(prompts.inverse_position) AS inverse_position,
                sum(prompts.mentions) AS mentions,
                sum(prompts.citations) AS citations,
                sum(prompts.visibility) AS visibility,
                sum(prompts.rivals_named) AS rivals_named,
                sum(prompts.rivals_visibility) AS rivals_visibility,
                sum(points * points) AS yy,
                sum(points * prompts.answers) AS yn,
                sum(prompts.answers * prompts.answers) AS nn,
                sum(prompts.mention_answers * prompts.mention_answers) AS mm,
                sum(prompts.mention_answers * prompts.answers) AS mn
            FROM prompts
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                bucket
            HAVING ((answers + given_up) + not_shown) > 0
        ),
        measured AS
        (
            SELECT
                *,
                [(((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880)) / nullIf(answers, 0), (100 * mention_answers) / nullIf(answers, 0)] AS means,
                arrayMap((mean, y, z) -> arrayMap(side -> (round(multiIf(if(notEmpty(CAST([], 'Array(UUID)')), answers, prompt_count) < 5, NULL, notEmpty(CAST([], 'Array(UUID)')), (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(0, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((y - ((2 * mean) * z)) + ((mean * mean) * nn)) - (1e-12 * y)))) / answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [yy, 10000 * mm], [yn, 100 * mn]) AS intervals
            FROM sums
        )
    SELECT
        organization_id,
        brand_id,
        group_key,
        bucket,
        answers,
        given_up,
        not_shown,
        mention_answers,
        citation_answers,
        mentions,
        citations,
        prompt_count,
        visible_prompts,
        round(((100 * visible_prompts) / nullIf(prompt_count, 0)) * 1.00000000001, 1) + 0 AS visibility_rate_pct,
        round((visibility / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
        round((rivals_visibility / nullIf(rivals_named, 0)) * 1.00000000001, 1) + 0 AS avg_competitor_score,
        round(((inverse_position / 5354228880) / nullIf(answers, 0)) * 1.00000000001, 4) + 0 AS position_factor,
        round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
        (intervals[1])[1] AS interval_low,
        (intervals[1])[2] AS interval_high,
        round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
        (intervals[2])[1] AS mention_rate_low,
        (intervals[2])[2] AS mention_rate_high
    FROM measured
    ORDER BY
        group_key ASC,
        bucket ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brands_standing
CREATE VIEW brands_standing
COMMENT 'how often the filtered answers name each of some brands, and the live competitor that they name most often. [73d3fdb66400]'
AS WITH
    prompts AS
    (
        SELECT
            brand_id,
            prompt_id,
            entity_id,
            sum(entity_prompt_daily.answers) AS asked,
            sum(entity_prompt_daily.mention_answers) AS named,
            sum(asked) OVER (PARTITION BY brand_id, prompt_id) AS asked_of_prompt,
            sumIf(named, entity_id = brand_id) OVER (PARTITION BY brand_id, prompt_id) AS brand_named
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
        GROUP BY
            brand_id,
            prompt_id,
            entity_id
    ),
    sums AS
    (
        SELECT
            brand_id,
            entity_id,
            rival.name AS name,
            sum(named) AS mention_answers,
            sum(named * named) AS mm,
            sum(named * asked_of_prompt) AS mn,
            sum(named * brand_named) AS mb,
            countIf(asked > 0) AS prompt_count,
            sum(asked) AS answers,
            sum(asked * asked) AS nn
        FROM prompts
        LEFT JOIN
        (
            SELECT
                brand_id AS brand,
                id,
                name
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND (NOT deleted)
        ) AS rival ON (rival.brand = prompts.brand_id) AND (rival.id = entity_id)
        WHERE entity_id IN (brand_id, rival.id)
        GROUP BY
            brand_id,
            entity_id,
            name
        ORDER BY brand_id ASC
    ),
    brands AS
    (
        SELECT
            brand_id,
            anyIf((sums.mention_answers, sums.mm, sums.mn), entity_id = brand_id) AS own,
            argMinIf((entity_id, name, sums.mention_answers, sums.mm, sums.mn, mb), (-sums.mention_answers, name), (entity_id != brand_id) AND (sums.mention_answers > 0)) AS leader,
            max(sums.prompt_count) AS prompt_count,
            max(sums.answers) AS answers,
            max(sums.nn) AS nn,
            own.1 AS mention_answers
        FROM sums
        GROUP BY brand_id
        HAVING answers > 0
    ),
    measured AS
    (
        SELECT
            *,
            [(100 * mention_answers) / nullIf(answers, 0), (100 * (mention_answers - (leader.3))) / nullIf(answers, 0)] AS means,
            arrayMap((mean, yy, yn, lowest) -> arrayMap(side -> (round(multiIf(if(false, answers, prompt_count) < 5, NULL, false, (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(lowest, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((yy - ((2 * mean) * yn)) + ((mean * mean) * nn)) - (1e-12 * yy)))) / answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [10000 * (own.2), 10000 * (((own.2) - (2 * (leader.6))) + (leader.4))], [100 * (own.3), 100 * ((own.3) - (leader.5))], [0, -100]) AS intervals
        FROM brands
    )
SELECT
    brand_id,
    answers,
    mention_answers,
    round((means[1]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    (intervals[1])[1] AS mention_rate_low,
    (intervals[1])[2] AS mention_rate_high,
    leader.1 AS leader_id,
    leader.2 AS leader_name,
    round(((100 * (leader.3)) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS leader_rate_pct,
    round((means[2]) * 1.00000000001, 1) + 0 AS rate_gap,
    (intervals[2])[1] AS rate_gap_low,
    (intervals[2])[2] AS rate_gap_high,
    multiIf(rate_gap_low IS NULL, 'too_little_data', rate_gap_low > 0, 'ahead', rate_gap_high < 0, 'behind', 'level') AS rate_gap_verdict
FROM measured
ORDER BY brand_id ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brands_trend
CREATE VIEW brands_trend
COMMENT 'how often the filtered answers name each of some brands, one row per brand and day that have answers. [9ca3b1530ac7]'
AS WITH
    prompts AS
    (
        SELECT
            brand_id,
            day,
            prompt_id,
            sum(brand_prompt_daily.answers) AS asked,
            sum(brand_prompt_daily.mention_answers) AS named
        FROM brand_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
        GROUP BY
            brand_id,
            day,
            prompt_id
    ),
    sums AS
    (
        SELECT
            brand_id,
            day,
            sum(asked) AS answers,
            countIf(asked > 0) AS prompt_count,
            sum(asked * asked) AS nn,
            sum(named) AS mention_answers,
            sum(named * named) AS mm,
            sum(named * asked) AS mn
        FROM prompts
        GROUP BY
            brand_id,
            day
        HAVING answers > 0
        ORDER BY
            brand_id ASC,
            day ASC
    ),
    (100 * mention_answers) / nullIf(answers, 0) AS rate,
    (if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, (((10000 * mm) - ((2 * rate) * (100 * mn))) + ((rate * rate) * nn)) - (1e-12 * (10000 * mm))))) / answers AS margin,
    arrayMap(side -> (round(multiIf(if(false, answers, prompt_count) < 5, NULL, false, (100 * ((((answers * rate) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * rate) / 100) * (answers - ((answers * rate) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(0, rate + (side * margin)))) * 1.00000000001, 1) + 0), [-1, 1]) AS ends
SELECT
    brand_id,
    day,
    answers,
    round(rate * 1.00000000001, 1) + 0 AS mention_rate_pct,
    ends[1] AS mention_rate_low,
    ends[2] AS mention_rate_high
FROM sums
ORDER BY
    brand_id ASC,
    day ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- brands_visits
CREATE VIEW brands_visits
COMMENT 'views that AI platforms sent to the sites of some brands, from date_from to date_to, and before that from before_from on. [50e47da73cf8]'
AS SELECT
    brand_id,
    sumIf(visit_daily.visits, day >= {date_from:Date}) AS visits,
    sumIf(visit_daily.visits, day < {date_from:Date}) AS visits_before
FROM visit_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND ((day >= {before_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (event != 'goal')
GROUP BY brand_id
ORDER BY brand_id ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- briefed_answers
CREATE VIEW briefed_answers
COMMENT 'answers of a brand for a content brief: the beginning of the text, the searches, and the pages that are cited by the current reading. [4799b80bfa52]'
AS SELECT
    id,
    prompt_text,
    platform,
    language,
    recorded.1 AS text,
    recorded.2 AS search_queries,
    cited.1 AS urls,
    cited.2 AS titles,
    cited.3 AS types,
    cited.4 AS owned
FROM
(
    SELECT
        id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.platform) AS platform,
        any(answers.language) AS language,
        argMinIf((substringUTF8(answers.text, 1, 16384), arraySlice(answers.search_queries, 1, 50)), (revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf((arrayFilter((url, is_cited) -> is_cited, citations.url, citations.cited), arrayFilter((title, is_cited) -> is_cited, citations.title, citations.cited), arrayFilter((listed, is_cited) -> is_cited, citations.listed_type, citations.cited), arrayFilter((own, is_cited) -> is_cited, citations.owned, citations.cited)), (revision, answers.extract_version), sign = 1) AS cited
    FROM answers
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day IN ({days:Array(Date)})) AND (id IN ({ids:Array(UUID)}))
    GROUP BY id
) AS found;

-- cell_days
CREATE VIEW cell_days
COMMENT 'sums by day of brands, one row per brand, prompt, platform, requested model, region, topic when it was asked and what [93a8c856369c]'
AS SELECT
    brand_id,
    prompt_id,
    ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), '') AS topic_id,
    lower(platform) AS platform,
    lower(model) AS model,
    lower(region) AS region,
    trimLeft(concat(brand_prompt_daily.served_model, if(provider = '', '', concat(' via ', provider)))) AS served_model,
    toString(groupArray(toUInt16(day))) AS days,
    toString(groupArray(brand_prompt_daily.runs)) AS runs,
    toString(groupArray(brand_prompt_daily.given_up)) AS given_up,
    toString(groupArray(brand_prompt_daily.answers)) AS answers,
    toString(groupArray(toFloat64(multiIf({metric:String} = 'mention_rate', 100 * mention_answers, {metric:String} = 'citation_rate', 100 * citation_answers, ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880))))) AS points
FROM brand_prompt_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(brand_prompt_daily.platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(brand_prompt_daily.model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(brand_prompt_daily.region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(brand_prompt_daily.topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
GROUP BY
    brand_id,
    prompt_id,
    brand_prompt_daily.topic_id,
    brand_prompt_daily.platform,
    brand_prompt_daily.model,
    brand_prompt_daily.region,
    brand_prompt_daily.served_model,
    provider
ORDER BY
    brand_id ASC,
    prompt_id ASC,
    brand_prompt_daily.topic_id ASC,
    brand_prompt_daily.platform ASC,
    brand_prompt_daily.model ASC,
    brand_prompt_daily.region ASC,
    brand_prompt_daily.served_model ASC,
    provider ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- citation_buckets
CREATE VIEW citation_buckets
COMMENT 'the citations of the filtered answers by bucket and source type, in the order of dates, then of types. [e107c70e2eb1]'
AS WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types
SELECT
    bucket,
    type AS source_type,
    sum(counted) AS citations,
    round(((100 * citations) / nullIf(sum(citations) OVER (PARTITION BY bucket), 0)) * 1.00000000001, 1) + 0 AS citations_pct,
    if(sum(kept) = citations, sum(citing), NULL) AS citing_answers
FROM
(
    SELECT
        multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
        toString(citation_daily.source_type) AS type,
        citation_daily.citations AS counted,
        toInt64(0) AS kept,
        toInt64(0) AS citing
    FROM citation_daily
    WHERE empty({prompts:Array(UUID)}) AND (NOT {consulted:Bool}) AND (url != '') AND (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({mentioned:Array(Bool)}) OR has({mentioned:Array(Bool)}, mentioned))
    UNION ALL
    SELECT
        bucket,
        type,
        if(notEmpty({prompts:Array(UUID)}) OR {consulted:Bool}, sign, 0),
        sign,
        sign * (nth = 1)
    FROM
    (
        SELECT
            multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
            toInt64(answers.sign) AS sign,
            arrayFilter((type, is_cited) -> (is_cited != {consulted:Bool}), arrayMap((owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed), citations.owned, citations.competitor_id, citations.listed_type), citations.cited) AS answer_types
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id)) AND (empty({mentioned:Array(Bool)}) OR has({mentioned:Array(Bool)}, CAST(mention_count > 0, 'Bool')))
    )
    ARRAY JOIN
        answer_types AS type,
        arrayEnumerateUniq(answer_types) AS nth
)
WHERE ({source_filter:String} = 'all') OR (type = {source_filter:String}) OR (({source_filter:String} = 'external') AND (type NOT IN ('owned', 'competitor')))
GROUP BY
    bucket,
    type
HAVING citations > 0
ORDER BY
    bucket ASC,
    indexOf(types, type) ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- citation_daily
CREATE TABLE citation_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `domain` LowCardinality(String) COMMENT 'registrable domain of the host',
    `url` String COMMENT 'cited URL, normalised, empty: the row counts answers',
    `title` String COMMENT 'title in the answer, empty: none',
    `source_type` LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that applies',
    `competitor_id` UUID COMMENT 'competitor whose domain it is, nil: none',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `mentioned` Bool COMMENT 'the answer mentions the brand',
    `entry` UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    `answers` Int64 COMMENT 'answers, on rows without a url',
    `citations` Int64 COMMENT 'answers that cite the url',
    `citing_answers` Int64 COMMENT 'citations that are the first in their answer',
    `citing_answers_source` Int64 COMMENT 'the first in their answer of their source: owned, competitor or external',
    `domain_answers` Int64 COMMENT 'the first in their answer to the domain',
    `domain_answers_source` Int64 COMMENT 'the first in their answer to the domain and of the source'
)
ENGINE = SummingMergeTree((answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded, mentioned)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'What answers cite by day, page and every filter, and the number of answers. Always sum: a key may have several rows.';

-- citation_daily_view
CREATE MATERIALIZED VIEW citation_daily_view TO citation_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `domain` String,
    `url` String,
    `title` String,
    `source_type` String,
    `competitor_id` UUID,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `mentioned` Bool,
    `entry` UInt128,
    `answers` Int16,
    `citations` Int16,
    `citing_answers` Int16,
    `citing_answers_source` Int16,
    `domain_answers` Int16,
    `domain_answers_source` Int16
)
AS WITH
    arrayMap((owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed), landed.citations.owned, landed.citations.competitor_id, landed.citations.listed_type) AS types,
    arrayMap(type -> if((type IN ('owned', 'competitor')), type, 'external'), types) AS sources
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
    CAST(mention_count > 0, 'Bool') AS mentioned,
    reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
    sign * (url = '') AS answers,
    sign * (url != '') AS citations,
    sign * (of_answer = 1) AS citing_answers,
    sign * (of_answer_source = 1) AS citing_answers_source,
    sign * (of_domain = 1) AS domain_answers,
    sign * (of_domain_source = 1) AS domain_answers_source
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
WHERE (NOT endsWith(platform, '-shopping')) AND answered AND cited;

-- citation_sources
CREATE VIEW citation_sources
COMMENT 'the citations of the filtered answers: all, and by the most cited domains and URLs. [0e7929bce6c3]'
AS WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    entries AS
    (
        SELECT
            any(citation_daily.domain) AS domain,
            any(citation_daily.url) AS url,
            any(citation_daily.title) AS title,
            any(citation_daily.source_type) AS type,
            any(citation_daily.model) AS requested,
            sum(citation_daily.answers) AS answers,
            sum(citation_daily.citations) AS citations,
            sum(if({source_filter:String} = 'all', citation_daily.citing_answers, citing_answers_source)) AS citing_answers,
            sum(if({source_filter:String} = 'all', domain_answers, domain_answers_source)) AS citing_domain
        FROM citation_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({mentioned:Array(Bool)}) OR has({mentioned:Array(Bool)}, mentioned)) AND (({source_filter:String} = 'all') OR (source_type IN ('', {source_filter:String})) OR (({source_filter:String} = 'external') AND (source_type NOT IN ('owned', 'competitor'))))
        GROUP BY entry
        HAVING (citations > 0) OR (answers > 0)
    ),
    sums AS
    (
        SELECT
            grouping(entries.url, entries.domain) AS level,
            min(entries.domain) AS domain,
            entries.url AS url,
            minIf(entries.title, entries.title != '') AS title,
            min(indexOf(types, entries.type)) AS nth_type,
            arraySort(groupUniqArrayIf(requested, entries.citations > 0)) AS models,
            max(sum(entries.answers)) OVER () AS answers,
            sum(entries.citations) AS citations,
            sum(entries.citing_answers) AS citing_answers,
            sum(citing_domain) AS citing_domain,
            countIf(level = 2) OVER () AS domains,
            countIf(level = 1) OVER () AS urls,
            sumForEach(arrayMap(nth -> ((level = 2) AND (nth_type = nth)), arrayEnumerate(types))) OVER () AS domains_by_type,
            arrayResize(sumForEach(arrayMap(type -> if(entries.type = type, entries.citations, 0), types)), 7) AS citations_by_type
        FROM entries
        GROUP BY
            GROUPING SETS (
                (entries.domain),
                (entries.url),
                ())
        HAVING (level = 3) OR (citations > 0)
        ORDER BY
            level DESC,
            citations DESC,
            url ASC,
            domain ASC
        LIMIT {limit:UInt32} BY level
    )
SELECT
    ['url', 'domain', 'total'][level] AS facet,
    if(facet = 'total', '', sums.domain) AS domain,
    url,
    if(facet = 'url', sums.title, '') AS title,
    if(facet = 'total', '', types[nth_type]) AS source_type,
    models,
    answers,
    citations,
    [citations, citing_domain, sums.citing_answers][level] AS citing_answers,
    round(((100 * citing_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS usage_pct,
    round((citations / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS citations_per_answer,
    domains,
    urls,
    if(facet = 'total', types, []) AS source_types,
    if(facet = 'total', sums.domains_by_type, []) AS domains_by_type,
    arrayMap(n -> (round(((100 * n) / nullIf(domains, 0)) * 1.00000000001, 1) + 0), domains_by_type) AS pct_by_type,
    if(facet = 'total', sums.citations_by_type, []) AS citations_by_type,
    arrayMap(n -> (round(((100 * n) / nullIf(citations, 0)) * 1.00000000001, 1) + 0), citations_by_type) AS citations_pct_by_type
FROM sums
ORDER BY
    level DESC,
    citations DESC,
    url ASC,
    domain ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- citation_sources_last_30_days
CREATE VIEW citation_sources_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `facet` String,
    `domain` String,
    `url` String,
    `title` String,
    `source_type` String,
    `models` Array(String),
    `answers` Int64,
    `citations` Int64,
    `citing_answers` Int64,
    `usage_pct` Nullable(Float64),
    `citations_per_answer` Nullable(Float64),
    `domains` UInt64,
    `urls` UInt64,
    `source_types` Array(String),
    `domains_by_type` Array(UInt64),
    `pct_by_type` Array(Nullable(Float64)),
    `citations_by_type` Array(Int64),
    `citations_pct_by_type` Array(Nullable(Float64))
)
COMMENT 'citation_sources of every brand, over the last 30 days (UTC) up to today, without filters. [65dc4dbc64e6]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
        entries AS
        (
            SELECT
                organization_id,
                brand_id,
                any(citation_daily.domain) AS domain,
                any(citation_daily.url) AS url,
                any(citation_daily.title) AS title,
                any(citation_daily.source_type) AS type,
                any(citation_daily.model) AS requested,
                sum(citation_daily.answers) AS answers,
                sum(citation_daily.citations) AS citations,
                sum(if('all' = 'all', citation_daily.citing_answers, citing_answers_source)) AS citing_answers,
                sum(if('all' = 'all', domain_answers, domain_answers_source)) AS citing_domain
            FROM citation_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), mentioned)) AND (('all' = 'all') OR (source_type IN ('', 'all')) OR (('all' = 'external') AND (source_type NOT IN ('owned', 'competitor'))))
            GROUP BY
                organization_id,
                brand_id,
                entry
            HAVING (citations > 0) OR (answers > 0)
        ),
        sums AS
        (
            SELECT
                organization_id,
                brand_id,
                grouping(entries.url, entries.domain) AS level,
                min(entries.domain) AS domain,
                entries.url AS url,
                minIf(entries.title, entries.title != '') AS title,
                min(indexOf(types, entries.type)) AS nth_type,
                arraySort(groupUniqArrayIf(requested, entries.citations > 0)) AS models,
                max(sum(entries.answers)) OVER (PARTITION BY organization_id, brand_id) AS answers,
                sum(entries.citations) AS citations,
                sum(entries.citing_answers) AS citing_answers,
                sum(citing_domain) AS citing_domain,
                countIf(level = 2) OVER (PARTITION BY organization_id, brand_id) AS domains,
                countIf(level = 1) OVER (PARTITION BY organization_id, brand_id) AS urls,
                sumForEach(arrayMap(nth -> ((level = 2) AND (nth_type = nth)), arrayEnumerate(types))) OVER (PARTITION BY organization_id, brand_id) AS domains_by_type,
                arrayResize(sumForEach(arrayMap(type -> if(entries.type = type, entries.citations, 0), types)), 7) AS citations_by_type
            FROM entries
            GROUP BY
                GROUPING SETS (
                    (organization_id, brand_id, entries.domain),
                    (organization_id, brand_id, entries.url),
                    (organization_id, brand_id))
            HAVING (level = 3) OR (citations > 0)
            ORDER BY
                level DESC,
                citations DESC,
                url ASC,
                domain ASC
            LIMIT 4294967295 BY
                organization_id,
                brand_id,
                level
        )
    SELECT
        organization_id,
        brand_id,
        ['url', 'domain', 'total'][level] AS facet,
        if(facet = 'total', '', sums.domain) AS domain,
        url,
        if(facet = 'url', sums.title, '') AS title,
        if(facet = 'total', '', types[nth_type]) AS source_type,
        models,
        answers,
        citations,
        [citations, citing_domain, sums.citing_answers][level] AS citing_answers,
        round(((100 * citing_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS usage_pct,
        round((citations / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS citations_per_answer,
        domains,
        urls,
        if(facet = 'total', types, []) AS source_types,
        if(facet = 'total', sums.domains_by_type, []) AS domains_by_type,
        arrayMap(n -> (round(((100 * n) / nullIf(domains, 0)) * 1.00000000001, 1) + 0), domains_by_type) AS pct_by_type,
        if(facet = 'total', sums.citations_by_type, []) AS citations_by_type,
        arrayMap(n -> (round(((100 * n) / nullIf(citations, 0)) * 1.00000000001, 1) + 0), citations_by_type) AS citations_pct_by_type
    FROM sums
    ORDER BY
        level DESC,
        citations DESC,
        url ASC,
        domain ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- citations
CREATE TABLE citations
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `prompt_id` UUID COMMENT 'prompt that was asked',
    `answer_id` UUID COMMENT 'id of the answer',
    `url` String COMMENT 'cited URL, normalised' CODEC(ZSTD(1)),
    `domain` LowCardinality(String) COMMENT 'registrable domain of the host',
    `title` String COMMENT 'title in the answer, empty: none' CODEC(ZSTD(1)),
    `listed_type` LowCardinality(String) COMMENT 'forum, social, review, institutional or editorial, regardless of its owner',
    `owned` Bool COMMENT 'on a domain of the brand',
    `competitor_id` UUID COMMENT 'competitor whose domain it is, nil: none',
    `sign` Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'One row per answer and URL that it cites, and per correction: those whose signs sum to 1 count. citation_daily is faster.';

-- citations_view
CREATE MATERIALIZED VIEW citations_view TO citations
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `prompt_id` UUID,
    `answer_id` UUID,
    `url` String,
    `domain` String,
    `title` String,
    `listed_type` String,
    `owned` Bool,
    `competitor_id` UUID,
    `sign` Int8
)
AS SELECT
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
WHERE (NOT endsWith(platform, '-shopping')) AND c.cited;

-- crawl_buckets
CREATE VIEW crawl_buckets
COMMENT 'requests of AI crawlers for a brand’s site, one row per bucket and purpose that have any. Errors were answered with a [e8ade99fe093]'
AS SELECT
    multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
    purpose,
    sum(crawl_daily.requests) AS requests,
    sum(crawl_daily.verified) AS verified,
    sum(crawl_daily.unverified) AS unverified,
    (requests - verified) - unverified AS unchecked,
    sumIf(crawl_daily.requests, status >= 400) AS errors
FROM crawl_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
GROUP BY
    bucket,
    purpose
HAVING requests > 0
ORDER BY
    bucket ASC,
    purpose ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- crawl_daily
CREATE TABLE crawl_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `crawler` LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    `operator` LowCardinality(String) COMMENT 'who runs it, empty: unknown',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `purpose` LowCardinality(String) COMMENT 'training, search (an index for later answers) or user (a person asked for the page just then)',
    `host` LowCardinality(String) COMMENT 'host of the page',
    `path` String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    `status` UInt16 COMMENT 'status of the response, 0: none was sent',
    `requests` Int64 COMMENT 'requests',
    `verified` Int64 COMMENT 'requests from addresses that the operator publishes',
    `unverified` Int64 COMMENT 'requests from other addresses. The rest was not checked',
    `bytes` Int64 COMMENT 'bytes of response bodies'
)
ENGINE = SummingMergeTree((requests, verified, unverified, bytes))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Always sum: a key may have several rows.';

-- crawl_daily_view
CREATE MATERIALIZED VIEW crawl_daily_view TO crawl_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `crawler` LowCardinality(String),
    `operator` LowCardinality(String),
    `platform` LowCardinality(String),
    `purpose` LowCardinality(String),
    `host` LowCardinality(String),
    `path` String,
    `status` UInt16,
    `requests` Int64,
    `verified` Int64,
    `unverified` Int64,
    `bytes` Int64
)
AS SELECT
    organization_id,
    brand_id,
    day,
    crawler,
    operator,
    platform,
    purpose,
    host,
    path,
    status,
    toInt64(count()) AS requests,
    toInt64(countIf(ifNull(landed.verified, false))) AS verified,
    toInt64(countIf(NOT ifNull(landed.verified, true))) AS unverified,
    sum(landed.bytes) AS bytes
FROM crawls AS landed
GROUP BY
    organization_id,
    brand_id,
    day,
    crawler,
    operator,
    platform,
    purpose,
    host,
    path,
    status;

-- crawls
CREATE TABLE crawls
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `id` UUID COMMENT 'id of the crawl, made of site, line and its number among equal lines. Its first 48 bits are at in Unix milliseconds',
    `log_topic` LowCardinality(String) COMMENT 'position of the record on the log',
    `log_partition` Int32 COMMENT 'position of the record on the log',
    `log_offset` Int64 COMMENT 'position of the record on the log' CODEC(Delta(8), ZSTD(1)),
    `at` DateTime64(3, 'UTC') COMMENT 'UTC time of the request' CODEC(Delta(8), ZSTD(1)),
    `crawler` LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    `operator` LowCardinality(String) COMMENT 'who runs it, empty: unknown',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `purpose` LowCardinality(String) COMMENT 'training, search (an index for later answers) or user (a person asked for the page just then)',
    `host` LowCardinality(String) COMMENT 'host of the page',
    `path` String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    `status` UInt16 COMMENT 'status of the response, 0: none was sent',
    `bytes` Int64 COMMENT 'bytes of response bodies' CODEC(ZSTD(1)),
    `verified` Nullable(Bool) COMMENT 'its address is one that the operator publishes, NULL: not checked',
    `simulated` Bool COMMENT 'made by the simulator',
    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, index_granularity = 8192
COMMENT 'One row per request of an AI crawler, from access logs. crawl_daily is faster.';

-- current_answers
CREATE VIEW current_answers
COMMENT 'the current rows of answers, their last rows with sign 1, without the columns of an id’s first row. [92084337cbde]'
AS SELECT
    organization_id,
    brand_id,
    day,
    id,
    sign,
    revision,
    extract_version,
    log_topic,
    log_partition,
    log_offset,
    answered_at,
    platform,
    model,
    served_model,
    provider,
    region,
    language,
    surface,
    sample,
    prompt_id,
    prompt_set_id,
    topic_id,
    prompt_text,
    is_branded,
    branded,
    job_id,
    simulated,
    given_up,
    given_up_class,
    given_up_error,
    attempts,
    latency_ms,
    finish,
    brand_name,
    mention_count,
    position,
    citation_count,
    visibility_score,
    sentiment,
    sentiment_method,
    competitors.id,
    competitors.name,
    competitors.mention_count,
    competitors.position,
    competitors.citation_count,
    competitors.visibility_score,
    competitors.sentiment,
    citations.url,
    citations.title,
    citations.cited,
    citations.host,
    citations.domain,
    citations.listed_type,
    citations.owned,
    citations.competitor_id,
    cards.position,
    cards.title,
    cards.brand,
    cards.price_amount,
    cards.price_currency,
    cards.image_url,
    cards.merchant,
    cards.merchant_url,
    cards.merchant_domain,
    cards.rating,
    cards.review_count,
    cards.matched_id,
    cards.role
FROM answers
WHERE (organization_id IN ({organizations:Array(UUID)})) AND (brand_id IN ({brands:Array(UUID)})) AND (day IN ({days:Array(Date)})) AND (id IN ({ids:Array(UUID)})) AND (sign = 1) AND (NOT ((log_topic = {topic:String}) AND (log_partition = {partition:Int32}) AND (log_offset >= {below:Int64})))
ORDER BY
    revision DESC,
    extract_version DESC
LIMIT 1 BY
    organization_id,
    brand_id,
    id;

-- dead_answers
CREATE VIEW dead_answers
COMMENT 'the answers of some brands that are dead letters, by the ids in their bytes. [b01abcb0a5cc]'
AS SELECT DISTINCT
    key,
    toUUIDOrZero(JSONExtractString(value, 'id')) AS id
FROM deadletters
WHERE (key IN ({brands:Array(String)})) AND (id IN ({ids:Array(UUID)}));

-- deadletter_ends
CREATE VIEW deadletter_ends
(
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `log_offset` Int64
)
COMMENT 'the last dead letter of each partition. [9728a27208e4]'
AS SELECT
    log_topic,
    log_partition,
    max(log_offset) AS log_offset
FROM deadletters
GROUP BY
    log_topic,
    log_partition
ORDER BY
    log_topic ASC,
    log_partition ASC;

-- deadletter_marks
CREATE TABLE deadletter_marks
(
    `log_topic` LowCardinality(String) COMMENT 'position of the record on the log',
    `log_partition` Int32 COMMENT 'position of the record on the log',
    `log_offset` Int64 COMMENT 'position of the record on the log',
    `mark` LowCardinality(String) COMMENT 'suspect: first of a batch that was repeated, reconciled: its month was reconciled since, replayed: it was appended again',
    `landing` LowCardinality(String) COMMENT 'landing table of the row, of suspect and reconciled',
    `month` UInt32 COMMENT 'month of the row as 202603, of suspect and reconciled',
    `at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = MergeTree
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 8192
COMMENT 'What became of dead letters, and of repeated batches.';

-- deadletter_marks_between
CREATE VIEW deadletter_marks_between
COMMENT 'the marks of the records from one position of the log to another, both included. [5f847d818632]'
AS SELECT
    log_topic,
    log_partition,
    log_offset,
    mark,
    landing,
    month,
    at
FROM deadletter_marks
WHERE ((log_topic >= {from_topic:String}) AND (log_topic <= {to_topic:String})) AND ((log_topic, log_partition, log_offset) >= ({from_topic:String}, {from_partition:Int32}, {from_offset:Int64})) AND ((log_topic, log_partition, log_offset) <= ({to_topic:String}, {to_partition:Int32}, {to_offset:Int64}))
ORDER BY
    log_topic ASC,
    log_partition ASC,
    log_offset ASC,
    at ASC;

-- deadletter_page
CREATE VIEW deadletter_page
COMMENT 'dead letters after a position of the log, in its order, without their bytes. Duplicates are one row. [fae326286569]'
AS SELECT
    log_topic,
    log_partition,
    log_offset,
    appended_at,
    key,
    length(key) + length(value) AS bytes,
    reason,
    detail
FROM deadletters
WHERE (log_topic >= {after_topic:String}) AND ((log_topic, log_partition, log_offset) > ({after_topic:String}, {after_partition:Int32}, {after_offset:Int64})) AND (empty({topics:Array(String)}) OR has({topics:Array(String)}, log_topic)) AND (empty({partitions:Array(Int32)}) OR has({partitions:Array(Int32)}, log_partition)) AND (empty({offsets:Array(Int64)}) OR has({offsets:Array(Int64)}, log_offset)) AND (empty({reasons:Array(String)}) OR has({reasons:Array(String)}, reason)) AND (({date_from:String} = '') OR (appended_at >= parseDateTime64BestEffort(if({date_from:String} = '', '1970-01-01', {date_from:String}), 3, 'UTC'))) AND (({date_to:String} = '') OR (appended_at < (parseDateTime64BestEffort(if({date_to:String} = '', '1970-01-01', {date_to:String}), 3, 'UTC') + toIntervalDay(1))))
ORDER BY
    log_topic ASC,
    log_partition ASC,
    log_offset ASC,
    reason ASC
LIMIT 1 BY
    log_topic,
    log_partition,
    log_offset
LIMIT {limit:UInt32};

-- deadletters
CREATE TABLE deadletters
(
    `log_topic` LowCardinality(String) COMMENT 'position of the record on the log',
    `log_partition` Int32 COMMENT 'position of the record on the log',
    `log_offset` Int64 COMMENT 'position of the record on the log',
    `appended_at` DateTime64(3, 'UTC') COMMENT 'time of the record on the log',
    `key` String COMMENT 'key of the record, empty: none',
    `value` String COMMENT 'value of the record' CODEC(ZSTD(1)),
    `reason` LowCardinality(String) COMMENT 'why it is not counted: malformed or month frozen',
    `detail` String COMMENT 'the reason in full',
    `headers.key` Array(String) COMMENT 'keys of its headers',
    `headers.value` Array(String) COMMENT 'values of its headers'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, index_granularity = 8192
COMMENT 'Records of the log that are in no landing table, byte for byte.';

-- deadletters_whole
CREATE VIEW deadletters_whole
COMMENT 'dead letters of one partition with their bytes, in the order of the log. Duplicates are one row. [f2d0d50c2dcb]'
AS SELECT
    log_topic,
    log_partition,
    log_offset,
    appended_at,
    key,
    value,
    headers.key,
    headers.value,
    reason,
    detail
FROM deadletters
WHERE (log_topic = {topic:String}) AND (log_partition = {partition:Int32}) AND (log_offset IN ({offsets:Array(Int64)}))
ORDER BY
    log_offset ASC,
    reason ASC
LIMIT 1 BY log_offset;

-- degraded_platforms
CREATE VIEW degraded_platforms
COMMENT 'platforms that gave up over a fifth of the filtered runs of a group and bucket, so their figures show an outage. [b4e82404153b]'
AS SELECT
    if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
    multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
    lower(platform) AS platform,
    sum(answer_daily.runs) AS runs,
    sum(answer_daily.given_up) AS given_up
FROM answer_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
GROUP BY
    group_key,
    bucket,
    platform
HAVING (5 * given_up) > runs
ORDER BY
    group_key ASC,
    bucket ASC,
    platform ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- dimension_brands
CREATE TABLE dimension_brands
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `id` UUID COMMENT 'brand_id of the other tables',
    `name` String COMMENT 'name',
    `slug` String COMMENT 'short name',
    `aliases` Array(String) COMMENT 'other names in answers',
    `domains` Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    `industry` String COMMENT 'as edited, empty: unknown',
    `region` String COMMENT 'as edited, empty: unknown',
    `language` String COMMENT 'as edited, empty: unknown',
    `revision` Int64 COMMENT 'rises with every edit of names, aliases, domains and competitors',
    `is_active` Bool COMMENT 'false: paused',
    `version` UInt64 COMMENT 'version of the row: the largest counts',
    `deleted` Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 8192
COMMENT 'Brands as they are now. Read with FINAL and WHERE NOT deleted.';

-- dimension_competitors
CREATE TABLE dimension_competitors
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `id` UUID COMMENT 'competitor_id of the other tables',
    `name` String COMMENT 'name',
    `aliases` Array(String) COMMENT 'other names in answers',
    `domains` Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    `version` UInt64 COMMENT 'version of the row: the largest counts',
    `deleted` Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 8192
COMMENT 'Competitors as they are now. Read with FINAL and WHERE NOT deleted.';

-- dimension_prompts
CREATE TABLE dimension_prompts
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `id` UUID COMMENT 'prompt_id of the other tables',
    `topic_id` UUID COMMENT 'its topic now, nil: none',
    `text` String COMMENT 'text of the prompt',
    `is_branded` Nullable(Bool) COMMENT 'branded as set on the prompt, NULL: not set',
    `is_active` Bool COMMENT 'false: paused',
    `version` UInt64 COMMENT 'version of the row: the largest counts',
    `deleted` Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 8192
COMMENT 'Prompts as they are now. A deleted one keeps its last text. Read with FINAL and WHERE NOT deleted.';

-- dimension_topics
CREATE TABLE dimension_topics
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `id` UUID COMMENT 'topic_id of the other tables',
    `name` String COMMENT 'name',
    `is_active` Bool COMMENT 'false: paused',
    `version` UInt64 COMMENT 'version of the row: the largest counts',
    `deleted` Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 8192
COMMENT 'Topics of prompts as they are now. Read with FINAL and WHERE NOT deleted.';

-- entity_prompt_daily
CREATE TABLE entity_prompt_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `prompt_id` UUID COMMENT 'prompt that was asked',
    `entity_id` UUID COMMENT 'the brand (its brand_id), or a competitor, also a deleted one',
    `runs` Int64 COMMENT 'answers, surfaces without one and given-up runs. 0 on rows of competitors',
    `given_up` Int64 COMMENT 'runs that ended without an answer. 0 on rows of competitors',
    `not_shown` Int64 COMMENT 'runs whose surface was seen, and had no answer. 0 on rows of competitors',
    `answers` Int64 COMMENT 'answers: the divisor of rates and averages. 0 on rows of competitors',
    `mention_answers` Int64 COMMENT 'answers that mention the entity',
    `citation_answers` Int64 COMMENT 'answers that cite its pages',
    `visible_answers` Int64 COMMENT 'answers that mention it or cite its pages',
    `inverse_position` Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths',
    `positions` Int64 COMMENT 'sum of position over mention_answers',
    `mentions` Int64 COMMENT 'occurrences of its names',
    `citations` Int64 COMMENT 'citations of its pages',
    `visibility` Int64 COMMENT 'sum of visibility_score over all answers',
    `visibility_named` Int64 COMMENT 'sum of visibility_score over mention_answers',
    `positive_answers` Int64 COMMENT 'mention_answers that speak well of it',
    `neutral_answers` Int64 COMMENT 'mention_answers that judge it neither way',
    `negative_answers` Int64 COMMENT 'mention_answers that speak ill of it'
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt, of brand and competitors. Always sum: a key may have several rows.';

-- entity_prompt_daily_view
CREATE MATERIALIZED VIEW entity_prompt_daily_view TO entity_prompt_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `prompt_id` UUID,
    `entity_id` UUID,
    `runs` Int64,
    `given_up` Int64,
    `not_shown` Int64,
    `answers` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `visible_answers` Int64,
    `inverse_position` Int64,
    `positions` Int64,
    `mentions` Int64,
    `citations` Int64,
    `visibility` Int64,
    `visibility_named` Int64,
    `positive_answers` Int64,
    `neutral_answers` Int64,
    `negative_answers` Int64
)
AS SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    entity_id,
    sum(sign * own) AS runs,
    sum(sign * (own AND landed.given_up)) AS given_up,
    sum(sign * (own AND (finish = 'not_shown'))) AS not_shown,
    sum(sign * (own AND answered)) AS answers,
    sum(sign * (named > 0)) AS mention_answers,
    sum(sign * (cited > 0)) AS citation_answers,
    sum(sign * ((named > 0) OR (cited > 0))) AS visible_answers,
    sum(sign * if(place = 0, 0, toInt64(round(5354228880 / place)))) AS inverse_position,
    sum(sign * place) AS positions,
    sum(sign * named) AS mentions,
    sum(sign * cited) AS citations,
    sum(sign * score) AS visibility,
    sum(sign * if(named > 0, score, 0)) AS visibility_named,
    sum(sign * ((named > 0) AND (label = 'positive'))) AS positive_answers,
    sum(sign * ((named > 0) AND (label = 'neutral'))) AS neutral_answers,
    sum(sign * ((named > 0) AND (label = 'negative'))) AS negative_answers
FROM answers AS landed
ARRAY JOIN
    arrayPushFront(landed.competitors.id, brand_id) AS entity_id,
    arrayPushFront(landed.competitors.mention_count, landed.mention_count) AS named,
    arrayPushFront(landed.competitors.position, landed.position) AS place,
    arrayPushFront(landed.competitors.citation_count, landed.citation_count) AS cited,
    arrayPushFront(landed.competitors.visibility_score, toUInt16(landed.visibility_score)) AS score,
    arrayPushFront(landed.competitors.sentiment, landed.sentiment) AS label,
    arrayMap(n -> (n = 1), arrayEnumerate(arrayPushFront(landed.competitors.id, brand_id))) AS own
WHERE (NOT endsWith(platform, '-shopping')) AND (own OR (named > 0) OR (cited > 0))
GROUP BY
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    entity_id;

-- entity_trend
CREATE VIEW entity_trend
COMMENT 'the figures of the brand and of each live competitor over the same filtered answers, one row per bucket that has answers and entity. [7af1dc88e199]'
AS WITH
    prompts AS
    (
        SELECT
            multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
            entity_id,
            prompt_id,
            sum(entity_prompt_daily.answers) AS asked,
            sum(entity_prompt_daily.mention_answers) AS mention_answers,
            sum(entity_prompt_daily.citation_answers) AS citation_answers,
            sum(entity_prompt_daily.inverse_position) AS inverse_position,
            sum(entity_prompt_daily.mentions) AS mentions,
            sum(entity_prompt_daily.citations) AS citations,
            ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points,
            sum(asked) OVER (PARTITION BY bucket, prompt_id) AS asked_of_prompt
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id))
        GROUP BY
            bucket,
            entity_id,
            prompt_id
    ),
    sums AS
    (
        SELECT
            bucket,
            entity_id,
            countIf(asked > 0) AS prompt_count,
            sum(asked) AS answers,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.citation_answers) AS citation_answers,
            sum(prompts.inverse_position) AS inverse_position,
            sum(prompts.mentions) AS mentions,
            sum(prompts.citations) AS citations,
            sum(points * points) AS yy,
            sum(points * asked_of_prompt) AS yn,
            sum(asked * asked) AS nn,
            sum(prompts.mention_answers * prompts.mention_answers) AS mm,
            sum(prompts.mention_answers * asked_of_prompt) AS mn
        FROM prompts
        GROUP BY
            bucket,
            entity_id
    ),
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name, brand_id))
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    measured AS
    (
        SELECT
            bucket,
            entity.1 AS entity_id,
            entity.2 AS name,
            answers,
            prompt_count,
            arrayFirst(row -> ((row.1) = (entity.1)), found) AS own,
            own.2 AS mention_answers,
            own.3 AS mentions,
            own.4 AS citations,
            [(((60 * mention_answers) + (25 * (own.5))) + ((15 * (own.6)) / 5354228880)) / nullIf(answers, 0), (100 * mention_answers) / nullIf(answers, 0)] AS means,
            arrayMap((mean, yy, yn) -> arrayMap(side -> (round(multiIf(if(of_prompt, answers, prompt_count) < 5, NULL, of_prompt, (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(0, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((yy - ((2 * mean) * yn)) + ((mean * mean) * nn)) - (1e-12 * yy)))) / answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [own.7, 10000 * (own.9)], [own.8, 100 * (own.10)]) AS intervals
        FROM
        (
            SELECT
                bucket,
                max(sums.answers) AS answers,
                max(sums.prompt_count) AS prompt_count,
                max(sums.nn) AS nn,
                groupArray((entity_id, mention_answers, mentions, citations, citation_answers, inverse_position, yy, yn, mm, mn)) AS found
            FROM sums
            GROUP BY bucket
            HAVING answers > 0
        ) AS bucketed
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> ((rival.3) = {brand_id:UUID}), live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
    )
SELECT
    bucket,
    entity_id,
    CAST(entity_id = {brand_id:UUID}, 'Bool') AS is_brand,
    name,
    answers,
    mention_answers,
    mentions,
    citations,
    round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
    (intervals[1])[1] AS interval_low,
    (intervals[1])[2] AS interval_high,
    round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    (intervals[2])[1] AS mention_rate_low,
    (intervals[2])[2] AS mention_rate_high,
    round(((100 * mentions) / nullIf(sum(mentions) OVER (PARTITION BY bucket), 0)) * 1.00000000001, 1) + 0 AS sov_pct
FROM measured
ORDER BY
    is_brand DESC,
    name ASC,
    entity_id ASC,
    bucket ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- entity_visibility
CREATE VIEW entity_visibility
COMMENT 'the figures of the brand and of each live competitor over the same filtered answers, one row per group and entity. [fcd2be64f089]'
AS WITH
    answered AS
    (
        SELECT
            if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
            prompt_id,
            entity_id,
            sum(entity_prompt_daily.answers) AS answers,
            sum(entity_prompt_daily.not_shown) AS not_shown,
            sumIf(entity_prompt_daily.answers, ((organization_id, brand_id, lower(platform)) GLOBAL IN (
                SELECT
                    organization_id,
                    brand_id,
                    lower(platform)
                FROM answer_daily
                WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (not_shown != 0)
            ))) AS seen,
            sum(entity_prompt_daily.mention_answers) AS mention_answers,
            sum(entity_prompt_daily.citation_answers) AS citation_answers,
            sum(entity_prompt_daily.inverse_position) AS inverse_position,
            sum(entity_prompt_daily.positions) AS positions,
            sum(entity_prompt_daily.mentions) AS mentions,
            sum(entity_prompt_daily.citations) AS citations,
            sum(entity_prompt_daily.visibility) AS visibility,
            sum(entity_prompt_daily.positive_answers) AS positive_answers,
            sum(entity_prompt_daily.neutral_answers) AS neutral_answers,
            sum(entity_prompt_daily.negative_answers) AS negative_answers
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id))
        GROUP BY
            group_key,
            prompt_id,
            entity_id
    ),
    prompts AS
    (
        SELECT
            *,
            ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points,
            sum(answered.answers) OVER (PARTITION BY group_key, prompt_id) AS asked,
            sumIf(answered.mention_answers, entity_id = {brand_id:UUID}) OVER (PARTITION BY group_key, prompt_id) AS brand_named
        FROM answered
    ),
    sums AS
    (
        SELECT
            group_key,
            entity_id,
            sum(prompts.answers) AS answers,
            sum(prompts.not_shown) AS not_shown,
            sum(prompts.seen) AS seen,
            countIf(prompts.answers > 0) AS prompt_count,
            sum(prompts.answers * prompts.answers) AS nn,
            countIf((prompts.mention_answers + prompts.citation_answers) > 0) AS visible_prompts,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.citation_answers) AS citation_answers,
            sum(prompts.inverse_position) AS inverse_position,
            sum(prompts.positions) AS positions,
            sum(prompts.mentions) AS mentions,
            sum(prompts.citations) AS citations,
            sum(prompts.visibility) AS visibility,
            sum(prompts.positive_answers) AS positive_answers,
            sum(prompts.neutral_answers) AS neutral_answers,
            sum(prompts.negative_answers) AS negative_answers,
            sum(prompts.mention_answers * prompts.mention_answers) AS mm,
            sum(prompts.mention_answers * asked) AS mn,
            sum(prompts.mention_answers * brand_named) AS mb,
            sum(points * points) AS yy,
            sum(points * asked) AS yn
        FROM prompts
        GROUP BY
            group_key,
            entity_id
    ),
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name, brand_id))
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    groups AS
    (
        SELECT
            group_key,
            sum(entities.answers) AS answers,
            sum(entities.not_shown) AS not_shown,
            sum(entities.seen) AS seen,
            sum(entities.prompt_count) AS prompt_count,
            sum(entities.nn) AS nn,
            groupArray(entity_id) AS ids,
            groupArray([toInt64(visible_prompts), mention_answers, citation_answers, inverse_position, positions, mentions, citations, visibility, positive_answers, neutral_answers, negative_answers, mm, mn, mb]) AS counts,
            groupArray([yy, yn]) AS squares
        FROM
        (
            SELECT *
            FROM sums
            UNION ALL
            SELECT
                '',
                {brand_id:UUID},
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0.,
                0.
            WHERE {group_by:String} = ''
        ) AS entities
        GROUP BY group_key
    ),
    measured AS
    (
        WITH
            arrayResize(counts[indexOf(ids, entity.1)], 14) AS own,
            counts[indexOf(ids, {brand_id:UUID})] AS brand,
            arrayResize(squares[indexOf(ids, entity.1)], 2) AS square
        SELECT
            *,
            entity,
            own,
            [(((60 * (own[2])) + (25 * (own[3]))) + ((15 * (own[4])) / 5354228880)) / nullIf(answers, 0), (100 * (own[2])) / nullIf(answers, 0), (100 * ((brand[2]) - (own[2]))) / nullIf(answers, 0)] AS means,
            arrayMap((mean, yy, yn) -> ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((yy - ((2 * mean) * yn)) + ((mean * mean) * nn)) - (1e-12 * yy)))) / answers), means, [square[1], 10000 * (own[12]), 10000 * (((brand[12]) - (2 * (own[14]))) + (own[12]))], [square[2], 100 * (own[13]), 100 * ((brand[13]) - (own[13]))]) AS margins,
            arrayMap((mean, margin, lowest) -> arrayMap(side -> (round(multiIf(if(of_prompt, answers, prompt_count) < 5, NULL, of_prompt, (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(lowest, mean + (side * margin)))) * 1.00000000001, 1) + 0), [-1, 1]), means, margins, [0, 0, -100]) AS intervals,
            (100 * seen) / nullIf(seen + not_shown, 0) AS shown,
            arrayMap(z -> if((seen + not_shown) < 5, NULL, round(((100 * ((seen + 1.9208) + (z * sqrt(((seen * ((seen + not_shown) - seen)) / (seen + not_shown)) + 0.9604)))) / ((seen + not_shown) + 3.8416)) * 1.00000000001, 1) + 0), [-1.96, 1.96]) AS shown_ends,
            arraySlice(own, 9, 3) AS labels,
            arraySum(labels) AS labelled,
            arrayMap(y -> (round(((100 * y) / nullIf(labelled, 0)) * 1.00000000001, 1) + 0), labels) AS tones
        FROM groups
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> ((rival.3) = {brand_id:UUID}), live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
    )
SELECT
    group_key,
    entity.1 AS entity_id,
    CAST(entity_id = {brand_id:UUID}, 'Bool') AS is_brand,
    entity.2 AS name,
    answers,
    not_shown,
    own[2] AS mention_answers,
    own[3] AS citation_answers,
    own[6] AS mentions,
    own[7] AS citations,
    prompt_count,
    toUInt64(own[1]) AS visible_prompts,
    round(((100 * visible_prompts) / nullIf(prompt_count, 0)) * 1.00000000001, 1) + 0 AS visibility_rate_pct,
    round(((own[8]) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
    round((((own[4]) / 5354228880) / nullIf(answers, 0)) * 1.00000000001, 4) + 0 AS position_factor,
    round(((own[5]) / nullIf(mention_answers, 0)) * 1.00000000001, 1) + 0 AS avg_position,
    round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
    (intervals[1])[1] AS interval_low,
    (intervals[1])[2] AS interval_high,
    round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    (intervals[2])[1] AS mention_rate_low,
    (intervals[2])[2] AS mention_rate_high,
    round(shown * 1.00000000001, 1) + 0 AS shown_pct,
    shown_ends[1] AS shown_low,
    shown_ends[2] AS shown_high,
    if(answers = 0, NULL, rank() OVER (PARTITION BY group_key ORDER BY mention_answers DESC)) AS rank,
    round(((100 * mentions) / nullIf(sum(mentions) OVER (PARTITION BY group_key), 0)) * 1.00000000001, 1) + 0 AS sov_pct,
    if(of_prompt, NULL, round((means[3]) * 1.00000000001, 1) + 0) AS rate_gap,
    if(of_prompt, NULL, (intervals[3])[1]) AS rate_gap_low,
    if(of_prompt, NULL, (intervals[3])[2]) AS rate_gap_high,
    multiIf(rate_gap_low IS NULL, 'too_little_data', rate_gap_low > 0, 'ahead', rate_gap_high < 0, 'behind', 'level') AS rate_gap_verdict,
    labelled,
    tones[1] AS positive_pct,
    tones[2] AS neutral_pct,
    tones[3] AS negative_pct
FROM measured
WHERE ({group_by:String} = '') OR ((answers + not_shown) > 0)
ORDER BY
    group_key ASC,
    is_brand DESC,
    name ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- entity_visibility_last_30_days
CREATE VIEW entity_visibility_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `group_key` String,
    `entity_id` UUID,
    `is_brand` Bool,
    `name` String,
    `answers` Int64,
    `not_shown` Int64,
    `mention_answers` Int64,
    `citation_answers` Int64,
    `mentions` Int64,
    `citations` Int64,
    `prompt_count` UInt64,
    `visible_prompts` UInt64,
    `visibility_rate_pct` Nullable(Float64),
    `avg_visibility` Nullable(Float64),
    `position_factor` Nullable(Float64),
    `avg_position` Nullable(Float64),
    `ai_visibility_score` Nullable(Float64),
    `interval_low` Nullable(Float64),
    `interval_high` Nullable(Float64),
    `mention_rate_pct` Nullable(Float64),
    `mention_rate_low` Nullable(Float64),
    `mention_rate_high` Nullable(Float64),
    `shown_pct` Nullable(Float64),
    `shown_low` Nullable(Float64),
    `shown_high` Nullable(Float64),
    `rank` Nullable(UInt64),
    `sov_pct` Nullable(Float64),
    `rate_gap` Nullable(Float64),
    `rate_gap_low` Nullable(Float64),
    `rate_gap_high` Nullable(Float64),
    `rate_gap_verdict` String,
    `labelled` Int64,
    `positive_pct` Nullable(Float64),
    `neutral_pct` Nullable(Float64),
    `negative_pct` Nullable(Float64)
)
COMMENT 'entity_visibility of every brand, over the last 30 days (UTC) up to today, without filters. [bd29ae382c9d]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        answered AS
        (
            SELECT
                organization_id,
                brand_id,
                if('' = '', '', multiIf('' = 'platform', toString(lower(platform)), '' = 'model', toString(lower(model)), '' = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
                prompt_id,
                entity_id,
                sum(entity_prompt_daily.answers) AS answers,
                sum(entity_prompt_daily.not_shown) AS not_shown,
                sumIf(entity_prompt_daily.answers, ((organization_id, brand_id, lower(platform)) GLOBAL IN (
                    SELECT
                        organization_id,
                        brand_id,
                        lower(platform)
                    FROM answer_daily
                    WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (not_shown != 0)
                ))) AS seen,
                sum(entity_prompt_daily.mention_answers) AS mention_answers,
                sum(entity_prompt_daily.citation_answers) AS citation_answers,
                sum(entity_prompt_daily.inverse_position) AS inverse_position,
                sum(entity_prompt_daily.positions) AS positions,
                sum(entity_prompt_daily.mentions) AS mentions,
                sum(entity_prompt_daily.citations) AS citations,
                sum(entity_prompt_daily.visibility) AS visibility,
                sum(entity_prompt_daily.positive_answers) AS positive_answers,
                sum(entity_prompt_daily.neutral_answers) AS neutral_answers,
                sum(entity_prompt_daily.negative_answers) AS negative_answers
            FROM entity_prompt_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), prompt_id))
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                prompt_id,
                entity_id
        ),
        prompts AS
        (
            SELECT
                *,
                ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points,
                sum(answered.answers) OVER (PARTITION BY organization_id, brand_id, group_key, prompt_id) AS asked,
                sumIf(answered.mention_answers, entity_id = brand_id) OVER (PARTITION BY organization_id, brand_id, group_key, prompt_id) AS brand_named
            FROM answered
        ),
        sums AS
        (
            SELECT
                organization_id,
                brand_id,
                group_key,
                entity_id,
                sum(prompts.answers) AS answers,
                sum(prompts.not_shown) AS not_shown,
                sum(prompts.seen) AS seen,
                countIf(prompts.answers > 0) AS prompt_count,
                sum(prompts.answers * prompts.answers) AS nn,
                countIf((prompts.mention_answers + prompts.citation_answers) > 0) AS visible_prompts,
                sum(prompts.mention_answers) AS mention_answers,
                sum(prompts.citation_answers) AS citation_answers,
                sum(prompts.inverse_position) AS inverse_position,
                sum(prompts.positions) AS positions,
                sum(prompts.mentions) AS mentions,
                sum(prompts.citations) AS citations,
                sum(prompts.visibility) AS visibility,
                sum(prompts.positive_answers) AS positive_answers,
                sum(prompts.neutral_answers) AS neutral_answers,
                sum(prompts.negative_answers) AS negative_answers,
                sum(prompts.mention_answers * prompts.mention_answers) AS mm,
                sum(prompts.mention_answers * asked) AS mn,
                sum(prompts.mention_answers * brand_named) AS mb,
                sum(points * points) AS yy,
                sum(points * asked) AS yn
            FROM prompts
            GROUP BY
                organization_id,
                brand_id,
                group_key,
                entity_id
        ),
        notEmpty(CAST([], 'Array(UUID)')) AS of_prompt,
        (
            SELECT groupArray((id, name, brand_id))
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND (NOT deleted)
        ) AS live,
        groups AS
        (
            SELECT
                organization_id,
                brand_id,
                group_key,
                sum(entities.answers) AS answers,
                sum(entities.not_shown) AS not_shown,
                sum(entities.seen) AS seen,
                sum(entities.prompt_count) AS prompt_count,
                sum(entities.nn) AS nn,
                groupArray(entity_id) AS ids,
                groupArray([toInt64(visible_prompts), mention_answers, citation_answers, inverse_position, positions, mentions, citations, visibility, positive_answers, neutral_answers, negative_answers, mm, mn, mb]) AS counts,
                groupArray([yy, yn]) AS squares
            FROM
            (
                SELECT *
                FROM sums
            ) AS entities
            GROUP BY
                organization_id,
                brand_id,
                group_key
        ),
        measured AS
        (
            WITH
                arrayResize(counts[indexOf(ids, entity.1)], 14) AS own,
                counts[indexOf(ids, brand_id)] AS brand,
                arrayResize(squares[indexOf(ids, entity.1)], 2) AS square
            SELECT
                *,
                entity,
                own,
                [(((60 * (own[2])) + (25 * (own[3]))) + ((15 * (own[4])) / 5354228880)) / nullIf(answers, 0), (100 * (own[2])) / nullIf(answers, 0), (100 * ((brand[2]) - (own[2]))) / nullIf(answers, 0)] AS means,
                arrayMap((mean, yy, yn) -> ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((yy - ((2 * mean) * yn)) + ((mean * mean) * nn)) - (1e-12 * yy)))) / answers), means, [square[1], 10000 * (own[12]), 10000 * (((brand[12]) - (2 * (own[14]))) + (own[12]))], [square[2], 100 * (own[13]), 100 * ((brand[13]) - (own[13]))]) AS margins,
                arrayMap((mean, margin, lowest) -> arrayMap(side -> (round(multiIf(if(of_prompt, answers, prompt_count) < 5, NULL, of_prompt, (100 * ((((answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((answers * mean) / 100) * (answers - ((answers * mean) / 100))) / answers) + 0.9604)))) / (answers + 3.8416), least(100, greatest(lowest, mean + (side * margin)))) * 1.00000000001, 1) + 0), [-1, 1]), means, margins, [0, 0, -100]) AS intervals,
                (100 * seen) / nullIf(seen + not_shown, 0) AS shown,
                arrayMap(z -> if((seen + not_shown) < 5, NULL, round(((100 * ((seen + 1.9208) + (z * sqrt(((seen * ((seen + not_shown) - seen)) / (seen + not_shown)) + 0.9604)))) / ((seen + not_shown) + 3.8416)) * 1.00000000001, 1) + 0), [-1.96, 1.96]) AS shown_ends,
                arraySlice(own, 9, 3) AS labels,
                arraySum(labels) AS labelled,
                arrayMap(y -> (round(((100 * y) / nullIf(labelled, 0)) * 1.00000000001, 1) + 0), labels) AS tones
            FROM groups
            ARRAY JOIN arrayPushFront(arrayFilter(rival -> ((rival.3) = brand_id), live), (brand_id, '', brand_id)) AS entity
        )
    SELECT
        organization_id,
        brand_id,
        group_key,
        entity.1 AS entity_id,
        CAST(entity_id = brand_id, 'Bool') AS is_brand,
        entity.2 AS name,
        answers,
        not_shown,
        own[2] AS mention_answers,
        own[3] AS citation_answers,
        own[6] AS mentions,
        own[7] AS citations,
        prompt_count,
        toUInt64(own[1]) AS visible_prompts,
        round(((100 * visible_prompts) / nullIf(prompt_count, 0)) * 1.00000000001, 1) + 0 AS visibility_rate_pct,
        round(((own[8]) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
        round((((own[4]) / 5354228880) / nullIf(answers, 0)) * 1.00000000001, 4) + 0 AS position_factor,
        round(((own[5]) / nullIf(mention_answers, 0)) * 1.00000000001, 1) + 0 AS avg_position,
        round((means[1]) * 1.00000000001, 1) + 0 AS ai_visibility_score,
        (intervals[1])[1] AS interval_low,
        (intervals[1])[2] AS interval_high,
        round((means[2]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
        (intervals[2])[1] AS mention_rate_low,
        (intervals[2])[2] AS mention_rate_high,
        round(shown * 1.00000000001, 1) + 0 AS shown_pct,
        shown_ends[1] AS shown_low,
        shown_ends[2] AS shown_high,
        if(answers = 0, NULL, rank() OVER (PARTITION BY organization_id, brand_id, group_key ORDER BY mention_answers DESC)) AS rank,
        round(((100 * mentions) / nullIf(sum(mentions) OVER (PARTITION BY organization_id, brand_id, group_key), 0)) * 1.00000000001, 1) + 0 AS sov_pct,
        if(of_prompt, NULL, round((means[3]) * 1.00000000001, 1) + 0) AS rate_gap,
        if(of_prompt, NULL, (intervals[3])[1]) AS rate_gap_low,
        if(of_prompt, NULL, (intervals[3])[2]) AS rate_gap_high,
        multiIf(rate_gap_low IS NULL, 'too_little_data', rate_gap_low > 0, 'ahead', rate_gap_high < 0, 'behind', 'level') AS rate_gap_verdict,
        labelled,
        tones[1] AS positive_pct,
        tones[2] AS neutral_pct,
        tones[3] AS negative_pct
    FROM measured
    WHERE ('' = '') OR ((answers + not_shown) > 0)
    ORDER BY
        group_key ASC,
        is_brand DESC,
        name ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- exported_answers
CREATE VIEW exported_answers
COMMENT 'every answer and given-up run of a brand as it is now, by day: the fields that an import takes, then those of the run, then its reading. [8b82105cfcb2]'
AS SELECT
    platform,
    prompt,
    answered_at,
    recorded.1 AS text,
    model,
    served_model,
    provider,
    surface,
    region,
    language,
    (
        SELECT mapFromArrays(groupArray(id), groupArray(name))
        FROM dimension_topics
        FINAL
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID})
    )[net.topic_id] AS topic,
    sample,
    CAST(arrayZip(recorded.2, recorded.3, recorded.4), 'Array(Tuple(url String, title String, cited Bool))') AS citations,
    JSONExtract(recorded.5, 'Array(Tuple(title String, position Nullable(Int64), brand String, price_amount Nullable(String), price_currency Nullable(String), url String, image_url String, rating Nullable(Float64), review_count Nullable(Int64), merchant String))') AS products,
    given_up,
    given_up_error,
    toString(id) AS id,
    toString(prompt_id) AS prompt_id,
    toString(prompt_set_id) AS prompt_set_id,
    nullIf(toString(topic_id), '00000000-0000-0000-0000-000000000000') AS topic_id,
    nullIf(toString(job_id), '00000000-0000-0000-0000-000000000000') AS job_id,
    is_branded,
    simulated,
    attempts,
    latency_ms,
    finish,
    recorded.6 AS search_queries,
    recorded.7 AS input_tokens,
    recorded.8 AS output_tokens,
    recorded.9 AS searches,
    recorded.10 AS cost_usd,
    reading.1 AS revision,
    reading.2 AS extract_version,
    reading.3 AS branded,
    reading.4 AS brand_name,
    reading.5 AS mention_count,
    reading.6 AS position,
    reading.7 AS citation_count,
    reading.8 AS visibility_score,
    reading.9 AS sentiment,
    reading.10 AS sentiment_method,
    CAST(arrayZip(rivals.1, rivals.2, rivals.3, rivals.4, rivals.5, rivals.6, rivals.7), 'Array(Tuple(id String, name String, mention_count UInt32, position UInt32, citation_count UInt32, visibility_score UInt16, sentiment String))') AS competitors,
    CAST(arrayZip(sources.1, sources.2, sources.3, sources.4, sources.5, sources.6), 'Array(Tuple(url String, host String, domain String, listed_type String, owned Bool, competitor_id String))') AS sources,
    recorded.11 AS log_topic,
    recorded.12 AS log_partition,
    recorded.13 AS log_offset
FROM
(
    SELECT
        organization_id,
        brand_id,
        day,
        id,
        any(answers.answered_at) AS answered_at,
        any(answers.platform) AS platform,
        any(answers.prompt_text) AS prompt,
        any(answers.model) AS model,
        any(answers.served_model) AS served_model,
        any(answers.provider) AS provider,
        any(answers.surface) AS surface,
        any(answers.region) AS region,
        any(answers.language) AS language,
        any(answers.sample) AS sample,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_set_id) AS prompt_set_id,
        any(answers.topic_id) AS topic_id,
        any(answers.job_id) AS job_id,
        anyRespectNulls(answers.is_branded) AS is_branded,
        any(answers.simulated) AS simulated,
        any(answers.given_up_class) AS given_up,
        any(answers.given_up_error) AS given_up_error,
        any(answers.attempts) AS attempts,
        any(answers.latency_ms) AS latency_ms,
        any(answers.finish) AS finish,
        argMinIf((answers.text, raw_citations.url, raw_citations.title, raw_citations.cited, raw_products, answers.search_queries, answers.input_tokens, answers.output_tokens, answers.searches, answers.cost_usd, answers.log_topic, answers.log_partition, answers.log_offset), (answers.revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf((answers.revision, answers.extract_version, answers.branded, answers.brand_name, answers.mention_count, answers.position, answers.citation_count, answers.visibility_score, answers.sentiment, answers.sentiment_method), (answers.revision, answers.extract_version), sign = 1) AS reading,
        argMaxIf((competitors.id, competitors.name, competitors.mention_count, competitors.position, competitors.citation_count, competitors.visibility_score, competitors.sentiment), (answers.revision, answers.extract_version), sign = 1) AS rivals,
        argMaxIf((answers.citations.url, answers.citations.host, answers.citations.domain, answers.citations.listed_type, answers.citations.owned, answers.citations.competitor_id), (answers.revision, answers.extract_version), sign = 1) AS sources
    FROM answers
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day >= {first_day:Date}) AND (day <= {last_day:Date})
    GROUP BY
        organization_id,
        brand_id,
        day,
        id
) AS net
ORDER BY
    day ASC,
    net.id ASC
SETTINGS optimize_aggregation_in_order = 1;

-- exported_crawls
CREATE VIEW exported_crawls
COMMENT 'every request of an AI crawler for a brand’s site as it was recorded. [9edb146bdebc]'
AS SELECT
    toString(id) AS id,
    at,
    crawler,
    operator,
    platform,
    purpose,
    host,
    path,
    status,
    bytes,
    verified,
    simulated,
    log_topic,
    log_partition,
    log_offset
FROM crawls
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day >= {first_day:Date}) AND (day <= {last_day:Date});

-- exported_visits
CREATE VIEW exported_visits
COMMENT 'every visit to a brand’s site as it was recorded. [89af92656f34]'
AS SELECT
    toString(id) AS id,
    at,
    event,
    platform,
    platform_by,
    host,
    path,
    referrer_host,
    country,
    country_by,
    language,
    screen,
    time_zone,
    session,
    new_session,
    toString(visitor) AS visitor,
    goal_name,
    goal_value,
    goal_currency,
    simulated,
    log_topic,
    log_partition,
    log_offset
FROM visits
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day >= {first_day:Date}) AND (day <= {last_day:Date});

-- fanout_queries
CREATE VIEW fanout_queries
COMMENT 'the queries that platforms searched for before most answers, at most limit: by answers descending, then by query. [43893a3b4949]'
AS WITH
    landed AS
    (
        WITH
            (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AS passes
        SELECT
            any(prompt_id) AS asked,
            any(lower(platform)) AS asked_platform,
            anyIf(search_queries, notEmpty(search_queries)) AS issued,
            sum(sign * (passes AND (mention_count > 0))) AS named,
            sum(sign * (passes AND (citation_count > 0))) AS cited
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region)))
        GROUP BY id
        HAVING sum(sign * passes) > 0
    )
SELECT
    query,
    toInt64(count()) AS answers,
    uniqExact(asked) AS prompt_count,
    arraySort(groupUniqArray(toString(asked_platform))) AS platforms,
    round(((100 * sum(named)) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    round(((100 * sum(cited)) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS cites_own_pct
FROM landed
ARRAY JOIN arrayDistinct(issued) AS query
GROUP BY query
ORDER BY
    answers DESC,
    query ASC
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- fanout_totals
CREATE VIEW fanout_totals
COMMENT 'how many answers searched before they were written, and how often: one row for each platform, then the sum of all, which has [7056350c4547]'
AS WITH
    landed AS
    (
        WITH
            (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AS passes
        SELECT
            any(lower(platform)) AS asked_platform,
            anyIf(search_queries, notEmpty(search_queries)) AS issued
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region)))
        GROUP BY id
        HAVING sum(sign * passes) > 0
    )
SELECT
    CAST(grouping(asked_platform), 'Bool') AS all_platforms,
    toString(asked_platform) AS platform,
    toInt64(count()) AS answers,
    toInt64(countIf(notEmpty(issued))) AS searching_answers,
    toInt64(sum(length(issued))) AS searches,
    uniqExactArray(issued) AS queries,
    round((searches / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS searches_per_answer
FROM landed
GROUP BY
    GROUPING SETS (
        (asked_platform),
        ())
HAVING answers > 0
ORDER BY
    all_platforms ASC,
    platform ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- fanout_words
CREATE VIEW fanout_words
COMMENT 'the words by which searches differ from the prompt that was asked: added are not in it, the others are in it alone. At most [cfc38a83ed75]'
AS WITH
    landed AS
    (
        WITH
            (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AS passes
        SELECT
            any(prompt_text) AS asked,
            anyIf(search_queries, notEmpty(search_queries)) AS issued
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region)))
        GROUP BY id
        HAVING sum(sign * passes) > 0
    ),
    prompts AS
    (
        SELECT
            arrayMap(text -> if(isASCII(text), extractAll(lower(text), '[a-z0-9]+(?:[\'&+.-][a-z0-9]+)*'), extractAll(normalizeUTF8NFC(replaceRegexpAll(translateUTF8(lowerUTF8(normalizeUTF8NFKD(text)), '’‘‐–−', '\'\'---'), '([\\p{Latin}\\p{Greek}\\p{Cyrillic}])\\p{Mn}+', '\\1')), '[\\p{L}\\p{M}\\p{N}]+(?:[\'&+.-][\\p{L}\\p{M}\\p{N}]+)*')), arrayPushFront(groupArray(query), asked)) AS words,
            groupArray(times) AS times
        FROM
        (
            SELECT
                asked,
                query,
                toInt64(count()) AS times
            FROM landed
            ARRAY JOIN issued AS query
            GROUP BY
                asked,
                query
        )
        GROUP BY asked
    ),
    pairs AS
    (
        SELECT
            words[1] AS asked_words,
            query_words,
            number AS times
        FROM prompts
        ARRAY JOIN
            arrayPopFront(words) AS query_words,
            times AS number
    ),
    changes AS
    (
        SELECT
            change.1 AS added,
            change.2 AS word,
            sum(times) AS searches,
            maxIf(sum(times), (change.2) = '') OVER () AS changed_searches
        FROM pairs
        ARRAY JOIN arrayConcat([(true, '')], arrayMap(w -> (true, w), arrayFilter(w -> (NOT has(asked_words, w)), arrayDistinct(query_words))), arrayMap(w -> (false, w), arrayFilter(w -> (NOT has(query_words, w)), arrayDistinct(asked_words)))) AS change
        WHERE query_words != asked_words
        GROUP BY change
    )
SELECT
    added,
    word,
    searches,
    round(((100 * searches) / nullIf(changed_searches, 0)) * 1.00000000001, 1) + 0 AS pct
FROM changes
WHERE word != ''
ORDER BY
    added DESC,
    searches DESC,
    word ASC
LIMIT {limit:UInt32} BY added
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- filter_values
CREATE VIEW filter_values
COMMENT 'the values for filters: platforms, requested models, regions and topics of the filtered runs. [c66cbc8da435]'
AS SELECT
    kind,
    value,
    if(kind != 'topic', value, if(topic.deleted, NULL, nullIf(topic.name, ''))) AS name
FROM
(
    SELECT
        multiIf(NOT grouping(lower(platform)), 'platform', NOT grouping(lower(model)), 'model', NOT grouping(lower(region)), 'region', 'topic') AS kind,
        multiIf(kind = 'platform', toString(lower(platform)), kind = 'model', toString(lower(model)), kind = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), '')) AS value,
        topic_id
    FROM answer_daily
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
    GROUP BY
        GROUPING SETS (
            (lower(platform)),
            (lower(model)),
            (lower(region)),
            (topic_id))
    HAVING (sum(answer_daily.runs) > 0) AND (value != '')
) AS present
LEFT JOIN
(
    SELECT
        id,
        name,
        deleted
    FROM dimension_topics
    FINAL
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
) AS topic ON topic.id = present.topic_id
ORDER BY
    kind ASC,
    name ASC,
    value ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- kept_answers
CREATE VIEW kept_answers
COMMENT 'answers of a brand as they were recorded, with the reading version of each row; the first row has the texts. [2c6757555aa1]'
AS SELECT
    day,
    id,
    revision,
    extract_version,
    answered_at,
    platform,
    model,
    served_model,
    provider,
    region,
    language,
    surface,
    sample,
    prompt_id,
    prompt_set_id,
    topic_id,
    prompt_text,
    is_branded,
    job_id,
    simulated,
    given_up,
    given_up_class,
    given_up_error,
    attempts,
    latency_ms,
    finish,
    text,
    search_queries,
    raw_citations.url,
    raw_citations.title,
    raw_citations.cited,
    raw_products,
    input_tokens,
    output_tokens,
    searches,
    cost_usd
FROM answers
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day IN ({days:Array(Date)})) AND (id IN ({ids:Array(UUID)})) AND (sign = 1)
ORDER BY
    day ASC,
    id ASC;

-- landed_answers
CREATE VIEW landed_answers
COMMENT 'the answers of a list that have landed, with their newest reading, and how often each is counted. [e47bc227ecdb]'
AS WITH
    maxIf((answers.revision, answers.extract_version), sign = 1) AS newest
SELECT
    organization_id,
    brand_id,
    id,
    newest.1 AS revision,
    newest.2 AS extract_version,
    sum(sign) AS counted
FROM answers
WHERE (organization_id IN ({organizations:Array(UUID)})) AND (brand_id IN ({brands:Array(UUID)})) AND (day IN ({days:Array(Date)})) AND (id IN ({ids:Array(UUID)})) AND (NOT ((log_topic = {topic:String}) AND (log_partition = {partition:Int32}) AND (log_offset >= {below:Int64})))
GROUP BY
    organization_id,
    brand_id,
    id;

-- last_answers
CREATE VIEW last_answers
COMMENT 'when each of some brands was last answered from date_from on, without shopping platforms. Where the raw answers of the last day [394faab6fb04]'
AS WITH
    last_days AS
    (
        SELECT
            brand_id,
            max(day) AS last_day
        FROM
        (
            SELECT
                brand_id,
                day
            FROM answer_daily
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND (day >= {date_from:Date})
            GROUP BY
                brand_id,
                day
            HAVING sum(answer_daily.answers) > 0
        )
        GROUP BY brand_id
    )
SELECT
    brand_id,
    max(at) AS answered_at
FROM
(
    SELECT
        brand_id,
        toDateTime64(last_day, 3, 'UTC') AS at
    FROM last_days
    UNION ALL
    SELECT
        brand_id,
        answered_at AS at
    FROM answers
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id IN ({brands:Array(UUID)})) AND (day >= {date_from:Date}) AND ((brand_id, day) IN (
        SELECT
            brand_id,
            last_day
        FROM last_days
    )) AND answered AND (NOT endsWith(platform, '-shopping'))
)
GROUP BY brand_id
ORDER BY brand_id ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- last_visits
CREATE VIEW last_visits
COMMENT 'the visits that landed from a range of offsets of one partition, in their order on the log. [b7c4fd9b9e79]'
AS SELECT
    organization_id,
    brand_id,
    id
FROM visits
WHERE (log_topic = {topic:String}) AND (log_partition = {partition:Int32}) AND (log_offset >= {from:Int64}) AND (log_offset < {below:Int64})
ORDER BY log_offset ASC;

-- listed_answers
CREATE VIEW listed_answers
COMMENT 'answers of a brand for a list: the question, the beginning of the text for an excerpt, and the current reading. [fd86f3473f87]'
AS SELECT
    * EXCEPT reading,
    reading.1 AS mention_count,
    reading.2 AS position,
    reading.3 AS sentiment,
    reading.4 AS citations,
    reading.5 AS extract_version,
    reading.6 AS own_citations
FROM
(
    SELECT
        id,
        any(answers.answered_at) AS answered_at,
        any(answers.platform) AS platform,
        any(answers.model) AS model,
        any(answers.served_model) AS served_model,
        any(answers.provider) AS provider,
        any(answers.answered) AS answered,
        any(answers.region) AS region,
        any(answers.sample) AS sample,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_text) AS prompt_text,
        argMinIf(substringUTF8(answers.text, 1, 65536), (revision, answers.extract_version), sign = 1) AS text,
        argMaxIf((answers.mention_count, answers.position, answers.sentiment, arrayCount(citations.cited), answers.extract_version, answers.citation_count), (revision, answers.extract_version), sign = 1) AS reading
    FROM answers
    WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day IN ({days:Array(Date)})) AND (id IN ({ids:Array(UUID)}))
    GROUP BY id
) AS found;

-- live_competitors
CREATE VIEW live_competitors
COMMENT 'the live competitors of a brand, by name in code-point order. [6925ec062e3d]'
AS SELECT
    id,
    name
FROM dimension_competitors
FINAL
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
ORDER BY
    name ASC,
    id ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- log_position
CREATE VIEW log_position
COMMENT 'the largest offset of a partition that has landed; no row if none has. [c17a6836abf5]'
AS SELECT max(last_offset) AS last_offset
FROM log_progress
WHERE (log_topic = {topic:String}) AND (log_partition = {partition:Int32})
HAVING count() > 0;

-- log_progress
CREATE TABLE log_progress
(
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `last_offset` SimpleAggregateFunction(max, Int64)
)
ENGINE = AggregatingMergeTree
ORDER BY (log_topic, log_partition)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, index_granularity = 8192;

-- log_progress_answers_view
CREATE MATERIALIZED VIEW log_progress_answers_view TO log_progress
(
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `last_offset` Int64
)
AS SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM answers
GROUP BY
    log_topic,
    log_partition;

-- log_progress_crawls_view
CREATE MATERIALIZED VIEW log_progress_crawls_view TO log_progress
(
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `last_offset` Int64
)
AS SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM crawls
GROUP BY
    log_topic,
    log_partition;

-- log_progress_visits_view
CREATE MATERIALIZED VIEW log_progress_visits_view TO log_progress
(
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `last_offset` Int64
)
AS SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM visits
GROUP BY
    log_topic,
    log_partition;

-- model_changes
CREATE VIEW model_changes
COMMENT 'the buckets in which a platform answers a requested model with other served models, or through other providers, than before, [74a05857ddb8]'
AS WITH
    served AS
    (
        SELECT
            if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
            multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
            lower(platform) AS platform,
            lower(model) AS model,
            trimLeft(concat(served_model, if(provider = '', '', concat(' via ', provider)))) AS answered_by,
            sum(answers) AS answered,
            sum(answered) OVER (PARTITION BY group_key, bucket, platform, model, provider) AS answered_by_provider
        FROM answer_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
        GROUP BY
            group_key,
            bucket,
            platform,
            model,
            answered_by,
            provider
        HAVING sum(runs) > sum(given_up)
    ),
    sets AS
    (
        SELECT
            group_key,
            bucket,
            platform,
            model,
            arraySort(groupArray(answered_by)) AS now,
            lagInFrame(now) OVER (PARTITION BY group_key, platform, model ORDER BY bucket ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
        FROM served
        WHERE (answered_by != '') AND ((answered > 0) OR (answered_by_provider = 0))
        GROUP BY
            group_key,
            bucket,
            platform,
            model
    )
SELECT
    group_key,
    bucket,
    platform,
    model,
    before,
    now
FROM sets
WHERE notEmpty(before) AND (now != before)
ORDER BY
    group_key ASC,
    bucket ASC,
    platform ASC,
    model ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- new_sources
CREATE VIEW new_sources
COMMENT 'domains that answers cite from date_from to date_to, and none did from before_from on before that, by answers that cite them. [5f4e6aa992af]'
AS SELECT
    any(citation_daily.domain) AS domain,
    sumIf(domain_answers, day >= {date_from:Date}) AS citing_answers
FROM citation_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {before_from:Date}) AND (day <= {date_to:Date})) AND (url != '')
GROUP BY citation_daily.domain
HAVING (citing_answers > 0) AND (sumIf(citations, day < {date_from:Date}) = 0)
ORDER BY
    citing_answers DESC,
    domain ASC
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- newest_cards
CREATE VIEW newest_cards
COMMENT 'the shopping cards of the filtered answers, newest first, at most limit after a cursor. [0dfaec3ecb3e]'
AS WITH
    toDateTime64(if({before:String} = '', '2149-01-01 00:00:00.000', {before:String}), 3, 'UTC') AS cursor_time,
    page AS
    (
        SELECT
            day,
            answered_at,
            id
        FROM shopping_cards
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= least({date_to:Date}, toDate(cursor_time)))) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({roles:Array(String)}) OR has({roles:Array(String)}, role)) AND ((answered_at < cursor_time) OR ((answered_at = cursor_time) AND ((toString(answer_id), position, toString(id)) > ({after_answer:String}, {after_position:UInt32}, {after_card:String}))))
        GROUP BY
            day,
            answered_at,
            answer_id,
            position,
            id
        HAVING sum(sign) > 0
        ORDER BY
            answered_at DESC,
            toString(answer_id) ASC,
            position ASC,
            toString(id) ASC
        LIMIT {limit:UInt32}
    )
SELECT
    id,
    answered_at,
    answer_id,
    position,
    title,
    product_brand,
    price_amount,
    price_currency,
    image_url,
    merchant,
    merchant_url,
    merchant_domain,
    rating,
    review_count,
    matched_id,
    role,
    platform,
    region
FROM shopping_cards
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day, answered_at, id) IN (
    SELECT
        day,
        answered_at,
        id
    FROM page
)) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({roles:Array(String)}) OR has({roles:Array(String)}, role))
GROUP BY ALL
HAVING sum(sign) > 0
ORDER BY
    answered_at DESC,
    toString(answer_id) ASC,
    position ASC,
    toString(id) ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- newest_cards_last_30_days
CREATE VIEW newest_cards_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `id` UUID,
    `answered_at` DateTime64(3, 'UTC'),
    `answer_id` UUID,
    `position` UInt32,
    `title` String,
    `product_brand` String,
    `price_amount` Nullable(Decimal(18, 4)),
    `price_currency` LowCardinality(String),
    `image_url` String,
    `merchant` String,
    `merchant_url` String,
    `merchant_domain` String,
    `rating` Nullable(Float64),
    `review_count` Nullable(Int64),
    `matched_id` UUID,
    `role` LowCardinality(String),
    `platform` LowCardinality(String),
    `region` LowCardinality(String)
)
COMMENT 'newest_cards of every brand, over the last 30 days (UTC) up to today, without filters. [02c18873fbb1]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        toDateTime64(if('' = '', '2149-01-01 00:00:00.000', ''), 3, 'UTC') AS cursor_time,
        page AS
        (
            SELECT
                organization_id,
                brand_id,
                day,
                answered_at,
                id
            FROM shopping_cards
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= least(toDate(now('UTC')), toDate(cursor_time)))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(String)')) OR has(CAST([], 'Array(String)'), role)) AND ((answered_at < cursor_time) OR ((answered_at = cursor_time) AND ((toString(answer_id), position, toString(id)) > ('', 0, ''))))
            GROUP BY
                organization_id,
                brand_id,
                day,
                answered_at,
                answer_id,
                position,
                id
            HAVING sum(sign) > 0
            ORDER BY
                answered_at DESC,
                toString(answer_id) ASC,
                position ASC,
                toString(id) ASC
            LIMIT 4294967295 BY
                organization_id,
                brand_id
        )
    SELECT
        organization_id,
        brand_id,
        id,
        answered_at,
        answer_id,
        position,
        title,
        product_brand,
        price_amount,
        price_currency,
        image_url,
        merchant,
        merchant_url,
        merchant_domain,
        rating,
        review_count,
        matched_id,
        role,
        platform,
        region
    FROM shopping_cards
    WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day, answered_at, id) IN (
        SELECT
            day,
            answered_at,
            id
        FROM page
    )) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(String)')) OR has(CAST([], 'Array(String)'), role))
    GROUP BY ALL
    HAVING sum(sign) > 0
    ORDER BY
        answered_at DESC,
        toString(answer_id) ASC,
        position ASC,
        toString(id) ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- newest_visit
CREATE VIEW newest_visit
(
    `newest` UInt64
)
COMMENT 'the latest time in the id of any visit that has landed, in Unix milliseconds; no row if none has. [aba49d317417]'
AS SELECT max(toUInt64(bitShiftRight(toUInt128(id), 80))) AS newest
FROM visits
WHERE day >= (
    SELECT max(day) - 2
    FROM visits
)
HAVING count() > 0;

-- one_answer
CREATE VIEW one_answer
COMMENT 'an answer of an organization that passes the filters, as it was recorded, and its current reading. Without a brand (the nil UUID) all are searched. [4394c15cddfe]'
AS SELECT
    * EXCEPT (recorded, reading, sources, products),
    recorded.1 AS text,
    recorded.2 AS search_queries,
    recorded.3 AS input_tokens,
    recorded.4 AS output_tokens,
    recorded.5 AS searches,
    recorded.6 AS cost_usd,
    reading.1 AS mention_count,
    reading.2 AS position,
    reading.3 AS sentiment,
    reading.4 AS extract_version,
    reading.5 AS own_citations,
    arrayCount(sources.5) AS citations,
    sources.1 AS `citations.url`,
    sources.2 AS `citations.title`,
    sources.3 AS `citations.domain`,
    arrayMap((listed, owned, rival) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed), sources.4, sources.6, sources.7) AS `citations.source_type`,
    sources.5 AS `citations.cited`,
    products.1 AS `cards.position`,
    products.2 AS `cards.title`,
    products.3 AS `cards.brand`,
    products.4 AS `cards.price_amount`,
    products.5 AS `cards.price_currency`,
    products.6 AS `cards.image_url`,
    products.7 AS `cards.merchant`,
    products.8 AS `cards.merchant_url`,
    products.9 AS `cards.merchant_domain`,
    products.10 AS `cards.rating`,
    products.11 AS `cards.review_count`,
    products.12 AS `cards.matched_id`,
    products.13 AS `cards.role`
FROM
(
    SELECT
        brand_id,
        id,
        any(answers.answered_at) AS answered_at,
        any(answers.platform) AS platform,
        any(answers.model) AS model,
        any(answers.served_model) AS served_model,
        any(answers.provider) AS provider,
        any(answers.answered) AS answered,
        any(answers.region) AS region,
        any(answers.sample) AS sample,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.job_id) AS job_id,
        argMinIf((answers.text, answers.search_queries, answers.input_tokens, answers.output_tokens, answers.searches, answers.cost_usd), (revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf((answers.mention_count, answers.position, answers.sentiment, answers.extract_version, answers.citation_count, answers.branded, nullIf(answers.topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), (revision, answers.extract_version), sign = 1) AS reading,
        argMaxIf((answers.citations.url, answers.citations.title, answers.citations.domain, answers.citations.listed_type, answers.citations.cited, answers.citations.owned, answers.citations.competitor_id), (revision, answers.extract_version), sign = 1) AS sources,
        argMaxIf((answers.cards.position, answers.cards.title, answers.cards.brand, answers.cards.price_amount, answers.cards.price_currency, answers.cards.image_url, answers.cards.merchant, answers.cards.merchant_url, answers.cards.merchant_domain, answers.cards.rating, answers.cards.review_count, answers.cards.matched_id, answers.cards.role), (revision, answers.extract_version), sign = 1) AS products
    FROM answers
    WHERE (organization_id = {organization_id:UUID}) AND (({brand_id:UUID} = toUUID('00000000-0000-0000-0000-000000000000')) OR (brand_id = {brand_id:UUID})) AND (day IN ({days:Array(Date)})) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (id IN ({ids:Array(UUID)})) AND (NOT given_up)
    GROUP BY
        brand_id,
        id
) AS found
WHERE (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, reading.6)) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, reading.7));

-- owned_pages
CREATE VIEW owned_pages
COMMENT 'the pages of a brand’s site that platforms crawl, cite or send visits to. Crawls are requests of purpose search or user that [819d597222a3]'
AS SELECT
    page,
    toInt64(sum(crawl_count)) AS crawls,
    toInt64(uniqExactArray(days)) AS crawl_days,
    toInt64(sum(citation_count)) AS citations,
    toInt64(sum(citing_count)) AS listed,
    toInt64(sum(visit_count)) AS visits
FROM
(
    SELECT
        *,
        trimRight(arrayStringConcat(arrayFold((path, segment) -> if((segment IN ('.', '..')), arrayResize(path, greatest(length(path) - (segment = '..'), 1)), arrayPushBack(path, segment)), splitByChar('/', arrayStringConcat(arrayMap(part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))), extractAll(extract(address, '^(?:https?://)?(?:www[.])?([^?]*)'), '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))), emptyArrayString()), '/'), '/') AS page
    FROM
    (
        SELECT
            concat(host, path) AS address,
            sum(requests) AS crawl_count,
            groupUniqArray(day) AS days,
            0 AS citation_count,
            0 AS citing_count,
            0 AS visit_count
        FROM crawl_daily
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND (purpose IN ('search', 'user')) AND (status = 200) AND (NOT match(path, '(?i)[.](txt|xml)$'))
        GROUP BY address
        UNION ALL
        SELECT
            cited.1 AS address,
            0,
            [],
            sumIf(sign, cited.2),
            sum(sign),
            0
        FROM answers
        ARRAY JOIN arrayDistinct(arrayMap((url, is_owned) -> (trimRight(extract(url, '^https?://(?:www[.])?([^?]*)'), '/'), is_owned), arrayFilter((url, is_cited) -> is_cited, citations.url, citations.cited), arrayFilter((is_owned, is_cited) -> is_cited, citations.owned, citations.cited))) AS cited
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND answered AND (NOT endsWith(platform, '-shopping'))
        GROUP BY address
        UNION ALL
        SELECT
            concat(host, path) AS address,
            0,
            [],
            0,
            0,
            sum(visit_daily.visits)
        FROM visit_daily
        WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND (event = 'view')
        GROUP BY address
    ) AS parts
) AS addresses
GROUP BY page
HAVING ((crawls + citations) + visits) > 0
ORDER BY page ASC;

-- panel_days
CREATE VIEW panel_days
COMMENT 'the features of a panel’s answers by platform, model, served model, prompt and day: 0 to 100 points an answer. [e84fc55a3c72]'
AS WITH
    arrayCount(n -> (n > 0), answers.competitors.mention_count) AS named,
    arrayCount(cited -> cited, answers.citations.cited) AS cited_pages,
    sign * answered AS answer
SELECT
    platform,
    model,
    trimLeft(concat(answers.served_model, if(provider = '', '', concat(' via ', provider)))) AS served_model,
    prompt_id,
    day,
    sum(sign) AS runs,
    sum(sign * answers.given_up) AS given_up,
    sum(answer) AS answers,
    toFloat64(sum((answer * named) * 10)) AS names,
    toFloat64(sum((answer * least(cited_pages, 20)) * 5)) AS citations,
    sum(answer * least(lengthUTF8(answers.text), 6000)) / 60 AS length,
    toFloat64(sum((answer * (cited_pages > 0)) * 100)) AS cites
FROM answers
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date}))
GROUP BY
    platform,
    model,
    answers.served_model,
    provider,
    prompt_id,
    day
HAVING runs > 0
ORDER BY
    platform ASC,
    model ASC,
    answers.served_model ASC,
    provider ASC,
    prompt_id ASC,
    day ASC;

-- prompt_matrix
CREATE VIEW prompt_matrix
COMMENT 'how often the answers to each prompt name the brand, over all and by group, for the prompts with answers in the window. [d30b3881132a]'
AS WITH
    cells AS
    (
        SELECT
            prompt_id,
            if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
            sum(entity_prompt_daily.answers) AS answers,
            sumIf(entity_prompt_daily.answers, branded) AS branded_answers,
            sum(entity_prompt_daily.mention_answers) AS mention_answers
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (entity_id = {brand_id:UUID})
        GROUP BY
            prompt_id,
            group_key
        HAVING answers > 0
    ),
    prompts AS
    (
        SELECT
            prompt_id,
            sum(cells.answers) AS answers,
            CAST(sum(branded_answers) > 0, 'Bool') AS branded,
            sum(cells.mention_answers) AS mention_answers,
            arraySort(groupArray((group_key, cells.answers, cells.mention_answers))) AS row
        FROM cells
        GROUP BY prompt_id
    ),
    placed AS
    (
        SELECT
            prompts.*,
            prompt.text AS prompt_text,
            if(topic.deleted OR (topic.name = ''), NULL, topic.name) AS topic_name,
            topic.id AS joined_id,
            round(((100 * mention_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS rate
        FROM prompts
        LEFT JOIN
        (
            SELECT
                id,
                text,
                topic_id
            FROM dimension_prompts
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
        ) AS prompt ON prompt.id = prompts.prompt_id
        LEFT JOIN
        (
            SELECT
                id,
                name,
                deleted
            FROM dimension_topics
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
        ) AS topic ON topic.id = prompt.topic_id
    ),
    sums AS
    (
        SELECT
            prompt_id,
            prompt_text,
            topic_name,
            if(isNull(topic_name), toUUID('00000000-0000-0000-0000-000000000000'), joined_id) AS topic_id,
            branded,
            answers,
            mention_answers,
            rate,
            row.1 AS groups,
            row.2 AS group_answers,
            row.3 AS group_mention_answers,
            concat(toString(toUInt8(branded)), if(isNull(topic_name), '1', concat('0', topic_name, '')), leftPad(toString(toUInt16(round(10 * assumeNotNull(rate)))), 4, '0'), toString(prompt_id)) AS sort_key
        FROM placed
        WHERE sort_key > {after_row:String}
        ORDER BY sort_key ASC
        LIMIT {limit:UInt32}
    ),
    arrayMap((n, m) -> if(n < 5, [NULL, NULL], [round(((100 * ((m + 1.9208) + (-1.96 * sqrt(((m * (n - m)) / n) + 0.9604)))) / (n + 3.8416)) * 1.00000000001, 1) + 0, round(((100 * ((m + 1.9208) + (1.96 * sqrt(((m * (n - m)) / n) + 0.9604)))) / (n + 3.8416)) * 1.00000000001, 1) + 0]), arrayPushFront(group_answers, answers), arrayPushFront(group_mention_answers, mention_answers)) AS intervals
SELECT
    prompt_id,
    prompt_text,
    topic_name,
    topic_id,
    branded,
    answers,
    mention_answers,
    rate,
    (intervals[1])[1] AS low,
    (intervals[1])[2] AS high,
    groups,
    group_answers,
    group_mention_answers,
    arrayMap((n, m) -> (round(((100 * m) / nullIf(n, 0)) * 1.00000000001, 1) + 0), group_answers, group_mention_answers) AS group_rates,
    arrayMap(ends -> (ends[1]), arrayPopFront(intervals)) AS group_lows,
    arrayMap(ends -> (ends[2]), arrayPopFront(intervals)) AS group_highs,
    sort_key
FROM sums
ORDER BY sort_key ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- prompt_performance
CREATE VIEW prompt_performance
COMMENT 'a brand’s figures by prompt, for the prompts with answers in the window; ties are sorted by prompt_id as text. [9816471c3a53]'
AS WITH
    prompts AS
    (
        WITH
            entity_id = brand_id AS own
        SELECT
            prompt_id,
            sum(entity_prompt_daily.answers) AS answers,
            CAST(sumIf(entity_prompt_daily.answers, entity_prompt_daily.branded) > 0, 'Bool') AS branded,
            sumIf(entity_prompt_daily.mention_answers, own) AS mention_answers,
            sumIf(entity_prompt_daily.citation_answers, own) AS citation_answers,
            sumIf(entity_prompt_daily.inverse_position, own) AS inverse_position,
            sumIf(entity_prompt_daily.positions, own) AS positions,
            sumIf(entity_prompt_daily.mentions, own) AS mentions,
            sumIf(entity_prompt_daily.citations, own) AS citations,
            sumIf(entity_prompt_daily.visibility, own) AS visibility,
            sumIf(entity_prompt_daily.mention_answers, NOT own) AS rivals_named,
            sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, entity_prompt_daily.branded)) AND (own OR ((organization_id, brand_id, entity_id) GLOBAL IN (
            SELECT
                organization_id,
                brand_id,
                id
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
        )))
        GROUP BY prompt_id
        HAVING answers > 0
    ),
    sorted AS
    (
        SELECT
            *,
            multiIf({sort_by:String} = 'mentions', toFloat64(mentions), {sort_by:String} = 'citations', toFloat64(citations), {sort_by:String} = 'appearances', toFloat64(mention_answers), {sort_by:String} = 'change', {changes:Array(Float64)}[indexOf({moved:Array(UUID)}, prompt_id)], round((if({sort_by:String} = 'rate', 100 * mention_answers, visibility) / nullIf(answers, 0)) * 1.00000000001, 1) + 0) AS sorted_by,
            if({order:String} = 'asc', 1, -1) AS direction
        FROM prompts
    ),
    sums AS
    (
        SELECT
            sorted.* EXCEPT direction,
            prompt.text AS prompt_text,
            if(topic.deleted, NULL, nullIf(topic.name, '')) AS topic_name
        FROM sorted
        LEFT JOIN
        (
            SELECT
                id,
                text,
                topic_id
            FROM dimension_prompts
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
        ) AS prompt ON prompt.id = sorted.prompt_id
        LEFT JOIN
        (
            SELECT
                id,
                name,
                deleted
            FROM dimension_topics
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
        ) AS topic ON topic.id = prompt.topic_id
        WHERE ({after_prompt:String} = '') OR ((direction * assumeNotNull(sorted_by), toString(prompt_id)) > (direction * {after:Float64}, {after_prompt:String}))
        ORDER BY
            direction * sorted_by ASC,
            toString(prompt_id) ASC
        LIMIT {limit:UInt32}
    ),
    ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points,
    if(answers < 5, NULL, answers) AS interval_answers
SELECT
    prompt_id,
    prompt_text,
    topic_name,
    answers,
    mention_answers,
    mentions,
    citations,
    round((visibility / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
    round((rivals_visibility / nullIf(rivals_named, 0)) * 1.00000000001, 1) + 0 AS avg_competitor_score,
    round(((((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880)) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS ai_visibility_score,
    round(((100 * (((points / 100) + 1.9208) + (-1.96 * sqrt((((points / 100) * (interval_answers - (points / 100))) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS interval_low,
    round(((100 * (((points / 100) + 1.9208) + (1.96 * sqrt((((points / 100) * (interval_answers - (points / 100))) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS interval_high,
    round(((100 * mention_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    round(((100 * ((mention_answers + 1.9208) + (-1.96 * sqrt(((mention_answers * (interval_answers - mention_answers)) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS mention_rate_low,
    round(((100 * ((mention_answers + 1.9208) + (1.96 * sqrt(((mention_answers * (interval_answers - mention_answers)) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS mention_rate_high,
    branded,
    round((positions / nullIf(mention_answers, 0)) * 1.00000000001, 1) + 0 AS avg_position,
    sorted_by
FROM sums
ORDER BY
    if({order:String} = 'asc', 1, -1) * sorted_by ASC,
    toString(prompt_id) ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- prompt_performance_last_30_days
CREATE VIEW prompt_performance_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `prompt_id` UUID,
    `prompt_text` String,
    `topic_name` Nullable(String),
    `answers` Int64,
    `mention_answers` Int64,
    `mentions` Int64,
    `citations` Int64,
    `avg_visibility` Nullable(Float64),
    `avg_competitor_score` Nullable(Float64),
    `ai_visibility_score` Nullable(Float64),
    `interval_low` Nullable(Float64),
    `interval_high` Nullable(Float64),
    `mention_rate_pct` Nullable(Float64),
    `mention_rate_low` Nullable(Float64),
    `mention_rate_high` Nullable(Float64),
    `branded` Bool,
    `avg_position` Nullable(Float64),
    `sorted_by` Nullable(Float64)
)
COMMENT 'prompt_performance of every brand, over the last 30 days (UTC) up to today, without filters. [b51062de2d0e]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        prompts AS
        (
            WITH
                entity_id = brand_id AS own
            SELECT
                organization_id,
                brand_id,
                prompt_id,
                sum(entity_prompt_daily.answers) AS answers,
                CAST(sumIf(entity_prompt_daily.answers, entity_prompt_daily.branded) > 0, 'Bool') AS branded,
                sumIf(entity_prompt_daily.mention_answers, own) AS mention_answers,
                sumIf(entity_prompt_daily.citation_answers, own) AS citation_answers,
                sumIf(entity_prompt_daily.inverse_position, own) AS inverse_position,
                sumIf(entity_prompt_daily.positions, own) AS positions,
                sumIf(entity_prompt_daily.mentions, own) AS mentions,
                sumIf(entity_prompt_daily.citations, own) AS citations,
                sumIf(entity_prompt_daily.visibility, own) AS visibility,
                sumIf(entity_prompt_daily.mention_answers, NOT own) AS rivals_named,
                sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility
            FROM entity_prompt_daily
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), entity_prompt_daily.branded)) AND (own OR ((organization_id, brand_id, entity_id) GLOBAL IN (
                SELECT
                    organization_id,
                    brand_id,
                    id
                FROM dimension_competitors
                FINAL
                WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND (NOT deleted)
            )))
            GROUP BY
                organization_id,
                brand_id,
                prompt_id
            HAVING answers > 0
        ),
        sorted AS
        (
            SELECT
                *,
                multiIf('visibility' = 'mentions', toFloat64(mentions), 'visibility' = 'citations', toFloat64(citations), 'visibility' = 'appearances', toFloat64(mention_answers), 'visibility' = 'change', CAST([], 'Array(Float64)')[indexOf(CAST([], 'Array(UUID)'), prompt_id)], round((if('visibility' = 'rate', 100 * mention_answers, visibility) / nullIf(answers, 0)) * 1.00000000001, 1) + 0) AS sorted_by,
                if('desc' = 'asc', 1, -1) AS direction
            FROM prompts
        ),
        sums AS
        (
            SELECT
                organization_id,
                brand_id,
                sorted.* EXCEPT direction,
                prompt.text AS prompt_text,
                if(topic.deleted, NULL, nullIf(topic.name, '')) AS topic_name
            FROM sorted
            LEFT JOIN
            (
                SELECT
                    id,
                    text,
                    topic_id
                FROM dimension_prompts
                FINAL
                WHERE (organization_id = organization_id) AND (brand_id = brand_id)
            ) AS prompt ON prompt.id = sorted.prompt_id
            LEFT JOIN
            (
                SELECT
                    id,
                    name,
                    deleted
                FROM dimension_topics
                FINAL
                WHERE (organization_id = organization_id) AND (brand_id = brand_id)
            ) AS topic ON topic.id = prompt.topic_id
            WHERE ('' = '') OR ((direction * assumeNotNull(sorted_by), toString(prompt_id)) > (direction * 0, ''))
            ORDER BY
                direction * sorted_by ASC,
                toString(prompt_id) ASC
            LIMIT 4294967295 BY
                organization_id,
                brand_id
        ),
        ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880) AS points,
        if(answers < 5, NULL, answers) AS interval_answers
    SELECT
        organization_id,
        brand_id,
        prompt_id,
        prompt_text,
        topic_name,
        answers,
        mention_answers,
        mentions,
        citations,
        round((visibility / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS avg_visibility,
        round((rivals_visibility / nullIf(rivals_named, 0)) * 1.00000000001, 1) + 0 AS avg_competitor_score,
        round(((((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880)) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS ai_visibility_score,
        round(((100 * (((points / 100) + 1.9208) + (-1.96 * sqrt((((points / 100) * (interval_answers - (points / 100))) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS interval_low,
        round(((100 * (((points / 100) + 1.9208) + (1.96 * sqrt((((points / 100) * (interval_answers - (points / 100))) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS interval_high,
        round(((100 * mention_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS mention_rate_pct,
        round(((100 * ((mention_answers + 1.9208) + (-1.96 * sqrt(((mention_answers * (interval_answers - mention_answers)) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS mention_rate_low,
        round(((100 * ((mention_answers + 1.9208) + (1.96 * sqrt(((mention_answers * (interval_answers - mention_answers)) / interval_answers) + 0.9604)))) / (interval_answers + 3.8416)) * 1.00000000001, 1) + 0 AS mention_rate_high,
        branded,
        round((positions / nullIf(mention_answers, 0)) * 1.00000000001, 1) + 0 AS avg_position,
        sorted_by
    FROM sums
    ORDER BY
        if('desc' = 'asc', 1, -1) * sorted_by ASC,
        toString(prompt_id) ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- rival_days
CREATE VIEW rival_days
COMMENT 'points by day of each live competitor of a brand, one row per entity, prompt, platform, requested model, region and topic when it was asked. [3a3d96a94124]'
AS SELECT
    entity_id,
    prompt_id,
    ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), '') AS topic_id,
    lower(platform) AS platform,
    lower(model) AS model,
    lower(region) AS region,
    toString(groupArray(toUInt16(day))) AS days,
    toString(groupArray(toFloat64(multiIf({metric:String} = 'mention_rate', 100 * mention_answers, {metric:String} = 'citation_rate', 100 * citation_answers, ((60 * mention_answers) + (25 * citation_answers)) + ((15 * inverse_position) / 5354228880))))) AS points
FROM entity_prompt_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(entity_prompt_daily.platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(entity_prompt_daily.model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(entity_prompt_daily.region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(entity_prompt_daily.topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (entity_id IN (
    SELECT id
    FROM dimension_competitors
    FINAL
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
))
GROUP BY
    entity_id,
    prompt_id,
    entity_prompt_daily.topic_id,
    entity_prompt_daily.platform,
    entity_prompt_daily.model,
    entity_prompt_daily.region
ORDER BY
    entity_id ASC,
    prompt_id ASC,
    entity_prompt_daily.topic_id ASC,
    entity_prompt_daily.platform ASC,
    entity_prompt_daily.model ASC,
    entity_prompt_daily.region ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- row_names
CREATE VIEW row_names
COMMENT 'the names of a brand’s prompts, live topics and live competitors; a prompt’s name is its text. [1c70621b3b51]'
AS SELECT
    kind,
    toString(id) AS value,
    name
FROM
(
    SELECT
        'prompt' AS kind,
        id,
        text AS name
    FROM dimension_prompts
    FINAL
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID})
    UNION ALL
    SELECT
        'topic',
        id,
        name
    FROM dimension_topics
    FINAL
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    UNION ALL
    SELECT
        'competitor',
        id,
        name
    FROM dimension_competitors
    FINAL
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
) AS named
ORDER BY
    kind ASC,
    name ASC,
    value ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- sentiment
CREATE VIEW sentiment
COMMENT 'how the answers that name the brand or a live competitor speak of it: one row per group and entity, the brand’s first. [4b1f041dc579]'
AS WITH
    prompts AS
    (
        SELECT
            if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
            entity_id,
            prompt_id,
            sum(entity_prompt_daily.answers) AS asked,
            sum(entity_prompt_daily.mention_answers) AS mention_answers,
            sum(positive_answers) AS positive,
            sum(neutral_answers) AS neutral,
            sum(negative_answers) AS negative,
            (positive + neutral) + negative AS labelled
        FROM entity_prompt_daily
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id))
        GROUP BY
            group_key,
            entity_id,
            prompt_id
    ),
    sums AS
    (
        SELECT
            group_key,
            entity_id,
            sum(asked) AS answers,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.positive) AS positive,
            sum(prompts.neutral) AS neutral,
            sum(prompts.negative) AS negative,
            countIf(labelled > 0) AS prompt_count,
            sum(labelled * labelled) AS nn,
            sum(prompts.positive * prompts.positive) AS positive_yy,
            sum(prompts.neutral * prompts.neutral) AS neutral_yy,
            sum(prompts.negative * prompts.negative) AS negative_yy,
            sum(prompts.positive * labelled) AS positive_yn,
            sum(prompts.neutral * labelled) AS neutral_yn,
            sum(prompts.negative * labelled) AS negative_yn
        FROM prompts
        GROUP BY
            group_key,
            entity_id
    ),
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    measured AS
    (
        SELECT
            group_key,
            entity.1 AS entity_id,
            entity.2 AS name,
            answers,
            arrayFirst(row -> ((row.1) = (entity.1)), found) AS own,
            own.2 AS mention_answers,
            [own.3, own.4, own.5] AS counts,
            arraySum(counts) AS labelled,
            arrayMap(y -> ((100 * y) / nullIf(labelled, 0)), counts) AS shares,
            arrayMap((share, yy, yn) -> arrayMap(side -> (round(multiIf(if(of_prompt, labelled, own.6) < 5, NULL, of_prompt, (100 * ((((labelled * share) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((labelled * share) / 100) * (labelled - ((labelled * share) / 100))) / labelled) + 0.9604)))) / (labelled + 3.8416), least(100, greatest(0, share + (side * ((if(((own.6) - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][(own.6) - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / ((own.6) - 1))) / ((own.6) - 1))) / ((own.6) - 1))) / ((own.6) - 1))) * sqrt(((own.6) / ((own.6) - 1)) * greatest(0, (((10000 * yy) - ((2 * share) * (100 * yn))) + ((share * share) * (own.7))) - (1e-12 * (10000 * yy))))) / labelled))))) * 1.00000000001, 1) + 0), [-1, 1]), shares, [own.8, own.9, own.10], [own.11, own.12, own.13]) AS intervals
        FROM
        (
            SELECT
                group_key,
                max(entities.answers) AS answers,
                groupArray((entity_id, mention_answers, positive, neutral, negative, prompt_count, nn, positive_yy, neutral_yy, negative_yy, positive_yn, neutral_yn, negative_yn)) AS found
            FROM
            (
                SELECT *
                FROM sums
                UNION ALL
                SELECT
                    '',
                    {brand_id:UUID},
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0
                WHERE {group_by:String} = ''
            ) AS entities
            GROUP BY group_key
        ) AS grouped
        ARRAY JOIN arrayPushFront(live, ({brand_id:UUID}, '')) AS entity
    )
SELECT
    group_key,
    entity_id,
    CAST(entity_id = {brand_id:UUID}, 'Bool') AS is_brand,
    name,
    answers,
    mention_answers,
    labelled,
    mention_answers - labelled AS unknown,
    counts[1] AS positive,
    counts[2] AS neutral,
    counts[3] AS negative,
    round((shares[1]) * 1.00000000001, 1) + 0 AS positive_pct,
    (intervals[1])[1] AS positive_low,
    (intervals[1])[2] AS positive_high,
    round((shares[2]) * 1.00000000001, 1) + 0 AS neutral_pct,
    (intervals[2])[1] AS neutral_low,
    (intervals[2])[2] AS neutral_high,
    round((shares[3]) * 1.00000000001, 1) + 0 AS negative_pct,
    (intervals[3])[1] AS negative_low,
    (intervals[3])[2] AS negative_high
FROM measured
WHERE ({group_by:String} = '') OR (answers > 0)
ORDER BY
    group_key ASC,
    is_brand DESC,
    name ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- share_of_voice
CREATE VIEW share_of_voice
COMMENT 'the brand’s share of all mentions of it and its live competitors, by group, bucket, platform and requested model. [55abecbb9113]'
AS WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live
SELECT
    if({group_by:String} = '', '', multiIf({group_by:String} = 'platform', toString(lower(platform)), {group_by:String} = 'model', toString(lower(model)), {group_by:String} = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
    multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
    CAST(grouping(platform), 'Bool') AS all_platforms,
    lower(platform) AS platform,
    lower(model) AS model,
    sum(entity_prompt_daily.answers) AS answers,
    sumIf(mentions, entity_id = {brand_id:UUID}) AS brand_mentions,
    sumIf(mentions, entity_id != {brand_id:UUID}) AS competitor_mentions,
    round(((100 * brand_mentions) / nullIf(brand_mentions + competitor_mentions, 0)) * 1.00000000001, 1) + 0 AS sov_pct
FROM entity_prompt_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (empty({prompts:Array(UUID)}) OR has({prompts:Array(UUID)}, prompt_id)) AND ((entity_id = {brand_id:UUID}) OR has(live, entity_id))
GROUP BY
    GROUPING SETS (
        (group_key, bucket),
        (group_key, bucket, platform, model))
HAVING answers > 0
ORDER BY
    group_key ASC,
    bucket ASC,
    all_platforms DESC,
    platform ASC,
    model ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- share_of_voice_last_30_days
CREATE VIEW share_of_voice_last_30_days
(
    `organization_id` UUID,
    `brand_id` UUID,
    `brand_name` String,
    `group_key` String,
    `bucket` Date,
    `all_platforms` Bool,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `answers` Int64,
    `brand_mentions` Int64,
    `competitor_mentions` Int64,
    `sov_pct` Nullable(Float64)
)
COMMENT 'share_of_voice of every brand, over the last 30 days (UTC) up to today, without filters. [482341ac7b6d]'
AS SELECT
    question.organization_id AS organization_id,
    question.brand_id AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
    WITH
        (
            SELECT groupArray(id)
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND (NOT deleted)
        ) AS live
    SELECT
        organization_id,
        brand_id,
        if('' = '', '', multiIf('' = 'platform', toString(lower(platform)), '' = 'model', toString(lower(model)), '' = 'region', toString(lower(region)), ifNull(toString(nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000'))), ''))) AS group_key,
        multiIf('window' = 'day', day, 'window' = 'week', toMonday(day), 'window' = 'month', toStartOfMonth(day), (toDate(now('UTC')) - 29)) AS bucket,
        CAST(grouping(platform), 'Bool') AS all_platforms,
        lower(platform) AS platform,
        lower(model) AS model,
        sum(entity_prompt_daily.answers) AS answers,
        sumIf(mentions, entity_id = brand_id) AS brand_mentions,
        sumIf(mentions, entity_id != brand_id) AS competitor_mentions,
        round(((100 * brand_mentions) / nullIf(brand_mentions + competitor_mentions, 0)) * 1.00000000001, 1) + 0 AS sov_pct
    FROM entity_prompt_daily
    WHERE (organization_id = organization_id) AND (brand_id = brand_id) AND ((day >= (toDate(now('UTC')) - 29)) AND (day <= toDate(now('UTC')))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(platform))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(model))) AND (empty(CAST([], 'Array(String)')) OR has(arrayMap(given -> lower(given), CAST([], 'Array(String)')), lower(region))) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty(CAST([], 'Array(Bool)')) OR has(CAST([], 'Array(Bool)'), branded)) AND (empty(CAST([], 'Array(UUID)')) OR has(CAST([], 'Array(UUID)'), prompt_id)) AND ((entity_id = brand_id) OR has(live, entity_id))
    GROUP BY
        GROUPING SETS (
            (organization_id, brand_id, group_key, bucket),
            (organization_id, brand_id, group_key, bucket, platform, model))
    HAVING answers > 0
    ORDER BY
        group_key ASC,
        bucket ASC,
        all_platforms DESC,
        platform ASC,
        model ASC
    SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
) AS question
LEFT JOIN
(
    SELECT
        organization_id AS owner,
        id AS named,
        name AS brand_name
    FROM dimension_brands
    FINAL
) AS brand ON (brand.owner = question.organization_id) AND (brand.named = question.brand_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- shopping_cards
CREATE TABLE shopping_cards
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `model` LowCardinality(String) COMMENT 'requested model, empty: none',
    `region` LowCardinality(String) COMMENT 'requested region, empty: none',
    `topic_id` UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    `branded` Bool COMMENT 'the prompt names the brand',
    `answered_at` DateTime64(3, 'UTC') COMMENT 'UTC time of the answer',
    `answer_id` UUID COMMENT 'id of the answer',
    `id` UUID COMMENT 'id of the card, made of answer and position',
    `position` UInt32 COMMENT '1-based position of the card in the answer',
    `title` String COMMENT 'title of the product' CODEC(ZSTD(1)),
    `product_brand` String COMMENT 'brand of the product, empty: unknown' CODEC(ZSTD(1)),
    `price_amount` Nullable(Decimal(18, 4)) COMMENT 'price in price_currency, NULL: unknown',
    `price_currency` LowCardinality(String) COMMENT 'ISO 4217, empty: unknown',
    `image_url` String COMMENT 'picture of the product, empty: unknown' CODEC(ZSTD(1)),
    `merchant` String COMMENT 'name of the shop, empty: unknown' CODEC(ZSTD(1)),
    `merchant_url` String COMMENT 'where it is sold, empty: unknown' CODEC(ZSTD(1)),
    `merchant_domain` String COMMENT 'registrable domain of merchant_url' CODEC(ZSTD(1)),
    `rating` Nullable(Float64) COMMENT 'as returned, NULL: unknown',
    `review_count` Nullable(Int64) COMMENT 'as returned, NULL: unknown',
    `matched_id` UUID COMMENT 'brand or competitor whose product it is, nil: neither',
    `role` LowCardinality(String) COMMENT 'own, competitor or other',
    `sign` Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'One row per shopping card, and per correction: those whose signs sum to 1 count.';

-- shopping_cards_view
CREATE MATERIALIZED VIEW shopping_cards_view TO shopping_cards
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `model` LowCardinality(String),
    `region` LowCardinality(String),
    `topic_id` UUID,
    `branded` Bool,
    `answered_at` DateTime64(3, 'UTC'),
    `answer_id` UUID,
    `id` UUID,
    `position` UInt32,
    `title` String,
    `product_brand` String,
    `price_amount` Nullable(Decimal(18, 4)),
    `price_currency` String,
    `image_url` String,
    `merchant` String,
    `merchant_url` String,
    `merchant_domain` String,
    `rating` Nullable(Float64),
    `review_count` Nullable(Int64),
    `matched_id` UUID,
    `role` String,
    `sign` Int8
)
AS SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    answered_at,
    landed.id AS answer_id,
    reinterpretAsUUID(sipHash128(landed.id, place)) AS id,
    c.position AS position,
    c.title AS title,
    c.brand AS product_brand,
    c.price_amount AS price_amount,
    c.price_currency AS price_currency,
    c.image_url AS image_url,
    c.merchant AS merchant,
    c.merchant_url AS merchant_url,
    c.merchant_domain AS merchant_domain,
    c.rating AS rating,
    c.review_count AS review_count,
    c.matched_id AS matched_id,
    c.role AS role,
    sign
FROM answers AS landed
ARRAY JOIN
    cards AS c,
    arrayEnumerate(cards.position) AS place;

-- shopping_lists
CREATE VIEW shopping_lists
COMMENT 'in how many product lists of the filtered answers the brand, each live competitor and all other products are, and at which place. [0755910f5fba]'
AS WITH
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            arraySort((id, place) -> place, cards.matched_id, cards.position) AS ids,
            arraySort(cards.position) AS places,
            arrayFilter((merchant, id) -> ((merchant != '') AND (id = brand_id)), cards.merchant_domain, cards.matched_id) AS merchants
        FROM answers
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND notEmpty(cards.position) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
    ),
    owned AS
    (
        SELECT
            landed.*,
            arrayMap(id -> if((id = {brand_id:UUID}) OR has(tracked, id), id, toUUID('00000000-0000-0000-0000-000000000000')), ids) AS owners
        FROM landed
        CROSS JOIN
        (
            SELECT groupArray(id) AS tracked
            FROM dimension_competitors
            FINAL
            WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
        ) AS live
    ),
    prompts AS
    (
        SELECT
            prompt_id,
            owner,
            sumIf(sign, place = 0) AS listed,
            sumIf(sign, place > 0) AS shown,
            sum(sign * place) AS places_sum,
            sumMapIf(merchants, arrayMap(merchant -> sign, merchants), place = 0) AS merchant_cards,
            sum(listed) OVER (PARTITION BY prompt_id) AS listed_of_prompt
        FROM owned
        ARRAY JOIN
            arrayPushFront(owners, {brand_id:UUID}) AS owner,
            arrayPushFront(places, 0) AS place,
            arrayPushFront(arrayEnumerateUniq(owners), 1) AS nth
        WHERE nth = 1
        GROUP BY
            prompt_id,
            owner
    ),
    sums AS
    (
        SELECT
            owner,
            countIf(listed > 0) AS prompt_count,
            sum(listed) AS all_lists,
            sum(listed * listed) AS nn,
            sum(shown) AS lists,
            sum(places_sum) AS places,
            sum(shown * shown) AS yy,
            sum(shown * listed_of_prompt) AS yn,
            (sumMap(merchant_cards)).1 AS merchants
        FROM prompts
        GROUP BY owner
    ),
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    arrayConcat([({brand_id:UUID}, '')], arraySort(rival -> (rival.2), live), [(toUUID('00000000-0000-0000-0000-000000000000'), '')]) AS entities,
    measured AS
    (
        SELECT
            *,
            nth,
            arrayFirst(row -> ((row.1) = ((entities[nth]).1)), found) AS own,
            (100 * (own.2)) / nullIf(all_lists, 0) AS share,
            (if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, (((10000 * (own.4)) - ((2 * share) * (100 * (own.5)))) + ((share * share) * nn)) - (1e-12 * (10000 * (own.4)))))) / all_lists AS margin,
            arrayMap(side -> (round(multiIf(if(false, all_lists, prompt_count) < 5, NULL, false, (100 * ((((all_lists * share) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((all_lists * share) / 100) * (all_lists - ((all_lists * share) / 100))) / all_lists) + 0.9604)))) / (all_lists + 3.8416), least(100, greatest(0, share + (side * margin)))) * 1.00000000001, 1) + 0), [-1, 1]) AS ends
        FROM
        (
            SELECT
                max(sums.prompt_count) AS prompt_count,
                max(sums.all_lists) AS all_lists,
                max(sums.nn) AS nn,
                groupArray((owner, lists, places, yy, yn)) AS found,
                anyIf(sums.merchants, owner = {brand_id:UUID}) AS merchants
            FROM sums
        )
        ARRAY JOIN arrayEnumerate(entities) AS nth
    )
SELECT
    (entities[nth]).1 AS entity_id,
    multiIf(nth = 1, 'own', nth = length(entities), 'other', 'competitor') AS role,
    (entities[nth]).2 AS name,
    all_lists,
    prompt_count,
    own.2 AS lists,
    round(share * 1.00000000001, 1) + 0 AS share_pct,
    ends[1] AS share_low,
    ends[2] AS share_high,
    round(((own.3) / nullIf(lists, 0)) * 1.00000000001, 1) + 0 AS avg_position,
    length(merchants) AS merchant_count,
    toUInt64(arrayCount(merchant -> arrayExists(domain -> endsWith(concat('.', domain), concat('.', merchant)), {domains:Array(String)}), merchants)) AS own_merchants
FROM measured
ORDER BY nth ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- shopping_prices
CREATE VIEW shopping_prices
COMMENT 'the prices of the cards of the filtered answers, by entity, as of shopping_lists, and currency. A card without either is left out. [666c94422c19]'
AS WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live
SELECT
    entity_id,
    currency,
    sum(n) AS cards,
    min(price) AS lowest,
    quantileExactWeighted(0.5)(price, toUInt64(n)) AS median,
    max(price) AS highest
FROM
(
    SELECT
        if(has(live, matched_id) OR (matched_id = {brand_id:UUID}), matched_id, toUUID('00000000-0000-0000-0000-000000000000')) AS entity_id,
        toString(price_currency) AS currency,
        assumeNotNull(price_amount) AS price,
        sum(sign) AS n
    FROM shopping_cards
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND (price_amount IS NOT NULL) AND (price_currency != '')
    GROUP BY
        entity_id,
        currency,
        price
    HAVING n > 0
)
GROUP BY
    entity_id,
    currency
ORDER BY
    entity_id ASC,
    cards DESC,
    currency ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- simulated_answers
CREATE VIEW simulated_answers
COMMENT 'whether the simulator made the filtered runs: one row, or two where it made some of them. [580483fa3954]'
AS SELECT DISTINCT simulated
FROM answers
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded))
ORDER BY simulated ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- source_matrix
CREATE VIEW source_matrix
COMMENT 'the domains that most answers cite, and how many of the answers that cite a domain name the brand and each live competitor. [8bbee88b1c22]'
AS WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    typed AS
    (
        SELECT
            domain,
            indexOf(types, multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed)) AS type,
            sumIf(sign, nth = 1) AS citing
        FROM answers
        ARRAY JOIN
            arrayPushFront(citations.domain, '') AS domain,
            arrayPushFront(citations.cited, true) AS is_cited,
            arrayPushFront(citations.owned, false) AS owned,
            arrayPushFront(citations.competitor_id, brand_id) AS competitor,
            arrayPushFront(citations.listed_type, '') AS listed,
            arrayPushFront(arrayEnumerateUniq(citations.cited, citations.domain), 1) AS nth
        PREWHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date}))
        WHERE answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND is_cited
        GROUP BY
            domain,
            owned,
            competitor,
            listed
        HAVING sum(sign) > 0
    ),
    domains AS
    (
        SELECT
            domain,
            min(type) AS nth_type,
            sum(typed.citing) AS citing,
            max(citing) OVER () AS answers
        FROM typed
        GROUP BY domain
        QUALIFY domain != ''
        ORDER BY
            citing DESC,
            domain ASC
        LIMIT {limit:UInt32}
    ),
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            domain,
            arrayPushFront(competitors.id, brand_id) AS ids,
            arrayPushFront(competitors.mention_count, mention_count) AS counts
        FROM answers
        ARRAY JOIN
            citations.domain AS domain,
            citations.cited AS is_cited,
            arrayEnumerateUniq(citations.cited, citations.domain) AS nth
        PREWHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date}))
        WHERE answered AND (NOT endsWith(platform, '-shopping')) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform))) AND (empty({models:Array(String)}) OR has(arrayMap(given -> lower(given), {models:Array(String)}), lower(model))) AND (empty({regions:Array(String)}) OR has(arrayMap(given -> lower(given), {regions:Array(String)}), lower(region))) AND (empty({topics:Array(UUID)}) OR has({topics:Array(UUID)}, nullIf(topic_id, toUUID('00000000-0000-0000-0000-000000000000')))) AND (empty({branded:Array(Bool)}) OR has({branded:Array(Bool)}, branded)) AND is_cited AND (nth = 1)
    ),
    prompts AS
    (
        SELECT
            domain,
            nth_type,
            answers,
            prompt_id,
            entity_id,
            sumIf(sign, entity_id = {brand_id:UUID}) AS citing,
            sumIf(sign, n > 0) AS named,
            sum(citing) OVER (PARTITION BY domain, prompt_id) AS citing_of_prompt,
            sumIf(named, entity_id = {brand_id:UUID}) OVER (PARTITION BY domain, prompt_id) AS brand_named
        FROM landed
        INNER JOIN domains USING (domain)
        ARRAY JOIN
            ids AS entity_id,
            counts AS n
        GROUP BY
            domain,
            nth_type,
            answers,
            prompt_id,
            entity_id
    ),
    sums AS
    (
        SELECT
            domain,
            nth_type,
            answers,
            entity_id,
            countIf(citing > 0) AS prompt_count,
            sum(citing) AS citing_answers,
            sum(citing * citing) AS nn,
            sum(named) AS mention_answers,
            sum(named * named) AS mm,
            sum(named * citing_of_prompt) AS mn,
            sum(named * brand_named) AS mb
        FROM prompts
        GROUP BY
            domain,
            nth_type,
            answers,
            entity_id
    ),
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors
        FINAL
        WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND (NOT deleted)
    ) AS live,
    measured AS
    (
        SELECT
            *,
            entity,
            arrayFirst(row -> ((row.1) = {brand_id:UUID}), found) AS brand,
            arrayFirst(row -> ((row.1) = (entity.1)), found) AS own,
            [(100 * (own.2)) / nullIf(citing_answers, 0), (100 * ((brand.2) - (own.2))) / nullIf(citing_answers, 0)] AS means,
            arrayMap((mean, yy, yn, lowest) -> arrayMap(side -> (round(multiIf(if(false, citing_answers, prompt_count) < 5, NULL, false, (100 * ((((citing_answers * mean) / 100) + 1.9208) + ((1.96 * side) * sqrt(((((citing_answers * mean) / 100) * (citing_answers - ((citing_answers * mean) / 100))) / citing_answers) + 0.9604)))) / (citing_answers + 3.8416), least(100, greatest(lowest, mean + (side * ((if((prompt_count - 1) < 30, [12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.06865761, 2.063898562, 2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642][prompt_count - 1], 1.959963985 + ((2.37227123 + ((2.822498616 + ((2.55584968 + (1.589534053 / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) / (prompt_count - 1))) * sqrt((prompt_count / (prompt_count - 1)) * greatest(0, ((yy - ((2 * mean) * yn)) + ((mean * mean) * nn)) - (1e-12 * yy)))) / citing_answers))))) * 1.00000000001, 1) + 0), [-1, 1]), means, [10000 * (own.3), 10000 * (((brand.3) - (2 * (own.5))) + (own.3))], [100 * (own.4), 100 * ((brand.4) - (own.4))], [0, -100]) AS intervals
        FROM
        (
            SELECT
                domain,
                types[nth_type] AS source_type,
                answers,
                max(sums.citing_answers) AS citing_answers,
                max(sums.prompt_count) AS prompt_count,
                max(sums.nn) AS nn,
                groupArray((entity_id, mention_answers, mm, mn, mb)) AS found
            FROM sums
            GROUP BY
                domain,
                nth_type,
                answers
        )
        ARRAY JOIN arrayPushFront(live, ({brand_id:UUID}, '')) AS entity
    )
SELECT
    domain,
    source_type,
    answers,
    citing_answers,
    round(((100 * citing_answers) / nullIf(answers, 0)) * 1.00000000001, 1) + 0 AS usage_pct,
    prompt_count,
    entity.1 AS entity_id,
    CAST(entity_id = {brand_id:UUID}, 'Bool') AS is_brand,
    entity.2 AS name,
    own.2 AS mention_answers,
    round((means[1]) * 1.00000000001, 1) + 0 AS mention_rate_pct,
    (intervals[1])[1] AS mention_rate_low,
    (intervals[1])[2] AS mention_rate_high,
    round((means[2]) * 1.00000000001, 1) + 0 AS rate_gap,
    (intervals[2])[1] AS rate_gap_low,
    (intervals[2])[2] AS rate_gap_high,
    multiIf(rate_gap_low IS NULL, 'too_little_data', rate_gap_low > 0, 'ahead', rate_gap_high < 0, 'behind', 'level') AS rate_gap_verdict
FROM measured
ORDER BY
    citing_answers DESC,
    domain ASC,
    is_brand DESC,
    sum(mention_answers) OVER (PARTITION BY entity_id) DESC,
    name ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- stale_answers
CREATE VIEW stale_answers
COMMENT 'the answers of a brand on some days, after a cursor, whose current reading is older than a version. [79a017d02a50]'
AS WITH
    minIf((answers.revision, answers.extract_version), sign = 1) AS first
SELECT
    day,
    id,
    first.1 AS revision,
    first.2 AS extract_version
FROM answers
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND (day IN ({days:Array(Date)})) AND ((day > {after_day:Date}) OR ((day = {after_day:Date}) AND (id > {after_id:UUID})))
GROUP BY
    day,
    id
HAVING (maxIf((answers.revision, answers.extract_version), sign = 1) < ({reading_revision:Int64}, {reading_version:UInt16})) AND (sum(sign) > 0)
ORDER BY
    day ASC,
    id ASC
LIMIT {most:UInt32};

-- stale_brands
CREATE VIEW stale_brands
COMMENT 'the brands with answers from a day on, the oldest version of their current readings, and a checksum of all readings. [1352ab8eb011]'
AS WITH
    min((standing.revision, standing.extract_version)) AS oldest
SELECT
    organization_id,
    brand_id,
    oldest.1 AS revision,
    oldest.2 AS extract_version,
    groupBitXor(sipHash64(day, standing.revision, standing.extract_version, answers)) AS checksum
FROM
(
    SELECT
        organization_id,
        brand_id,
        day,
        revision,
        extract_version,
        sum(sign) AS answers
    FROM answers
    WHERE day >= {since:Date}
    GROUP BY
        organization_id,
        brand_id,
        day,
        revision,
        extract_version
    HAVING sum(sign) > 0
) AS standing
GROUP BY
    organization_id,
    brand_id
ORDER BY
    organization_id ASC,
    brand_id ASC;

-- stale_days
CREATE VIEW stale_days
COMMENT 'the number of answers of a brand whose current reading is older than a version, by day. [4881a9bdfb44]'
AS SELECT
    day,
    toUInt64(sum(sign)) AS answers
FROM answers
WHERE (organization_id = {organization:UUID}) AND (brand_id = {brand:UUID}) AND ((day >= {first_day:Date}) AND (day <= {last_day:Date})) AND ((revision, extract_version) < ({reading_revision:Int64}, {reading_version:UInt16}))
GROUP BY day
HAVING sum(sign) > 0
ORDER BY day ASC;

-- suspect_records
CREATE VIEW suspect_records
(
    `landing` LowCardinality(String),
    `month` UInt32,
    `log_topic` LowCardinality(String),
    `log_partition` Int32,
    `log_offset` Int64
)
COMMENT 'the first records of repeated batches, and the months whose rollups may be wrong. [ad342f00eedf]'
AS SELECT
    landing,
    month,
    log_topic,
    log_partition,
    log_offset
FROM deadletter_marks
GROUP BY
    landing,
    month,
    log_topic,
    log_partition,
    log_offset
HAVING (countIf(mark = 'suspect') > 0) AND (countIf(mark = 'reconciled') = 0)
ORDER BY
    landing ASC,
    month ASC,
    log_topic ASC,
    log_partition ASC,
    log_offset ASC;

-- visit_buckets
CREATE VIEW visit_buckets
COMMENT 'visits, sessions and goals that a platform sent to a brand’s site, one row per bucket and platform that have any. [63e3cca3029d]'
AS WITH
    sumMapIf([toString(currency)], [visit_daily.value], event = 'goal') AS sums
SELECT
    multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
    platform,
    sumIf(visit_daily.visits, event = 'view') AS visits,
    sumIf(visit_daily.sessions, event = 'view') AS sessions,
    sumIf(visit_daily.visits, event = 'goal') AS goals,
    sums.1 AS currencies,
    sums.2 AS amounts
FROM visit_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(visit_daily.platform)))
GROUP BY
    bucket,
    platform
HAVING (visits + goals) > 0
ORDER BY
    bucket ASC,
    platform ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- visit_change
CREATE VIEW visit_change
COMMENT 'visits, sessions and goals of a brand’s site in the days before a window, from before_from on, and the differences of the [d6d0698ec40f]'
AS SELECT
    sumIf(visit_daily.visits, (event = 'view') AND (day < {date_from:Date})) AS visits_before,
    sumIf(visit_daily.sessions, (event = 'view') AND (day < {date_from:Date})) AS sessions_before,
    sumIf(visit_daily.visits, (event = 'goal') AND (day < {date_from:Date})) AS goals_before,
    sumIf(visit_daily.visits, event = 'view') - (2 * visits_before) AS visits_difference,
    sumIf(visit_daily.sessions, event = 'view') - (2 * sessions_before) AS sessions_difference,
    sumIf(visit_daily.visits, event = 'goal') - (2 * goals_before) AS goals_difference
FROM visit_daily
WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {before_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- visit_daily
CREATE TABLE visit_daily
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `host` LowCardinality(String) COMMENT 'host of the page',
    `path` String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    `country` LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    `event` LowCardinality(String) COMMENT 'view or goal',
    `goal` LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    `currency` LowCardinality(String) COMMENT 'ISO 4217, empty: none',
    `visits` Int64 COMMENT 'views, or times the goal was reached',
    `sessions` Int64 COMMENT 'views that began a session, on this landing page',
    `value` Decimal(38, 6) COMMENT 'exact sum of the goals\' values in currency'
)
ENGINE = SummingMergeTree((visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0
COMMENT 'Visits and goals by day, platform, page and country. Always sum: a key may have several rows.';

-- visit_daily_view
CREATE MATERIALIZED VIEW visit_daily_view TO visit_daily
(
    `organization_id` UUID,
    `brand_id` UUID,
    `day` Date,
    `platform` LowCardinality(String),
    `host` LowCardinality(String),
    `path` String,
    `country` LowCardinality(String),
    `event` LowCardinality(String),
    `goal` LowCardinality(String),
    `currency` LowCardinality(String),
    `visits` Int64,
    `sessions` Int64,
    `value` Decimal(38, 6)
)
AS SELECT
    organization_id,
    brand_id,
    day,
    platform,
    host,
    path,
    country,
    event,
    goal_name AS goal,
    goal_currency AS currency,
    toInt64(count()) AS visits,
    toInt64(countIf(landed.new_session)) AS sessions,
    sum(ifNull(goal_value, toDecimal64(0, 6))) AS value
FROM visits AS landed
GROUP BY
    organization_id,
    brand_id,
    day,
    platform,
    host,
    path,
    country,
    event,
    goal,
    currency;

-- visit_totals
CREATE VIEW visit_totals
COMMENT 'visits, sessions and goals that all platforms sent to a brand’s site, one row per bucket of the window. [7fa89c2f92df]'
AS WITH
    sumMapIf([toString(currency)], [counts.value], event = 'goal') AS sums
SELECT
    multiIf({granularity:String} = 'day', day, {granularity:String} = 'week', toMonday(day), {granularity:String} = 'month', toStartOfMonth(day), {date_from:Date}) AS bucket,
    sumIf(counts.visits, event = 'view') AS visits,
    sumIf(counts.sessions, event = 'view') AS sessions,
    sumIf(counts.visits, event = 'goal') AS goals,
    sums.1 AS currencies,
    sums.2 AS amounts
FROM
(
    SELECT {date_from:Date} + number AS day
    FROM numbers(toUInt64(({date_to:Date} - {date_from:Date}) + 1))
) AS days
LEFT JOIN
(
    SELECT
        day,
        event,
        currency,
        visits,
        sessions,
        value
    FROM visit_daily
    WHERE (organization_id = {organization_id:UUID}) AND (brand_id = {brand_id:UUID}) AND ((day >= {date_from:Date}) AND (day <= {date_to:Date})) AND (empty({platforms:Array(String)}) OR has(arrayMap(given -> lower(given), {platforms:Array(String)}), lower(platform)))
) AS counts USING (day)
GROUP BY bucket
ORDER BY bucket ASC
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0;

-- visits
CREATE TABLE visits
(
    `organization_id` UUID COMMENT 'organization of the brand',
    `brand_id` UUID COMMENT 'id of the brand',
    `day` Date COMMENT 'UTC day',
    `id` UUID COMMENT 'id of the visit. Its first 48 bits are the acceptance in Unix milliseconds',
    `log_topic` LowCardinality(String) COMMENT 'position of the record on the log',
    `log_partition` Int32 COMMENT 'position of the record on the log',
    `log_offset` Int64 COMMENT 'position of the record on the log' CODEC(Delta(8), ZSTD(1)),
    `at` DateTime64(3, 'UTC') COMMENT 'UTC time of the visit' CODEC(Delta(8), ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'view or goal',
    `platform` LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    `platform_by` LowCardinality(String) COMMENT 'source of the platform: referrer, utm, parameter, referrer_utm or session, empty: unknown',
    `host` LowCardinality(String) COMMENT 'host of the page',
    `path` String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    `referrer_host` LowCardinality(String) COMMENT 'host of the linking page, empty: unknown',
    `country` LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    `country_by` LowCardinality(String) COMMENT 'source of the country: database, header or time_zone, empty: unknown',
    `language` LowCardinality(String) COMMENT 'language of the browser, empty: unknown',
    `screen` LowCardinality(String) COMMENT 'pixels, such as 1920x1080, empty: unknown',
    `time_zone` LowCardinality(String) COMMENT 'IANA name, empty: unknown',
    `session` String COMMENT 'random name of the tab\'s session, empty: unknown' CODEC(ZSTD(1)),
    `new_session` Bool COMMENT 'first view of its session',
    `visitor` UInt64 COMMENT 'salted hash of the visitor, for one day, 0: unknown',
    `goal_name` LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    `goal_value` Nullable(Decimal(18, 6)) COMMENT 'value in goal_currency, NULL: none',
    `goal_currency` LowCardinality(String) COMMENT 'ISO 4217, empty: none',
    `simulated` Bool COMMENT 'made by the simulator',
    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, index_granularity = 8192
COMMENT 'One row per visit that an AI platform sent, and per goal. visit_daily is faster.';

