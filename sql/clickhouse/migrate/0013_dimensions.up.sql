-- What people edit, mirrored from Postgres within a second: names, liveness, and the rows that have no facts yet. The
-- newest version of a row wins.
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    id              UUID COMMENT 'brand_id of the other tables',
    name            String COMMENT 'how the brand is called',
    slug            String COMMENT 'short name in addresses',
    aliases         Array(String) COMMENT 'other names that mention it',
    domains         Array(String) COMMENT 'hosts whose pages are its own, with all hosts under them',
    industry        String COMMENT 'as typed in, empty: not said',
    region          String COMMENT 'where it is at home, empty: not said',
    language        String COMMENT 'empty: not said',
    revision        Int64 COMMENT 'rises with every edit of names, aliases, domains and competitors',
    is_active       Bool COMMENT 'its prompts are asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Brands as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose competitor it is',
    id              UUID COMMENT 'competitor_id of the other tables',
    name            String COMMENT 'how it is called',
    aliases         Array(String) COMMENT 'other names that mention it',
    domains         Array(String) COMMENT 'hosts whose pages are its own, with all hosts under them',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Competitors of a brand as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that it is asked for',
    id              UUID COMMENT 'prompt_id of the other tables',
    topic_id        UUID COMMENT 'topic that it is in now, nil: none',
    text            String COMMENT 'what is asked',
    is_branded      Nullable(Bool) COMMENT 'it names the brand, NULL: decided by its text',
    is_active       Bool COMMENT 'it is asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Prompts of a brand as they are now. A deleted one keeps its last text. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose topic it is',
    id              UUID COMMENT 'topic_id of the other tables',
    name            String COMMENT 'how it is called',
    is_active       Bool COMMENT 'its prompts are asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Topics of prompts as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';
