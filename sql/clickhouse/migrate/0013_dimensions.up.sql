-- Names, liveness and rows without facts, mirrored from PostgreSQL within a second of an edit. The newest version of a
-- row counts.
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID COMMENT 'organization of the brand',
    id              UUID COMMENT 'brand_id of the other tables',
    name            String COMMENT 'name',
    slug            String COMMENT 'short name',
    aliases         Array(String) COMMENT 'other names in answers',
    domains         Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    industry        String COMMENT 'as edited, empty: unknown',
    region          String COMMENT 'as edited, empty: unknown',
    language        String COMMENT 'as edited, empty: unknown',
    revision        Int64 COMMENT 'rises with every edit of names, aliases, domains and competitors',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Brands as they are now. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'competitor_id of the other tables',
    name            String COMMENT 'name',
    aliases         Array(String) COMMENT 'other names in answers',
    domains         Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Competitors as they are now. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'prompt_id of the other tables',
    topic_id        UUID COMMENT 'its topic now, nil: none',
    text            String COMMENT 'text of the prompt',
    is_branded      Nullable(Bool) COMMENT 'branded as set on the prompt, NULL: not set',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Prompts as they are now. A deleted one keeps its last text. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'topic_id of the other tables',
    name            String COMMENT 'name',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Topics of prompts as they are now. Read with FINAL and WHERE NOT deleted.';
