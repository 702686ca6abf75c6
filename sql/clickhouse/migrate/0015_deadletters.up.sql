-- A record is kept whole, and what became of it since stands beside it: a row is
-- added for everything that happens to it, and none is ever changed.
--
-- Dead letters are inserted before the rows of their batch, so that they do not tell
-- how far a partition has landed any more. Whoever has inserted both does.
DROP VIEW IF EXISTS log_progress_deadletters_view;

ALTER TABLE deadletters
    ADD COLUMN IF NOT EXISTS headers Nested(key String, value String);

CREATE TABLE IF NOT EXISTS deadletter_marks
(
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition',
    mark            LowCardinality(String) COMMENT 'expired: the first of a batch whose plan had expired when it was inserted, reconciled: the figures of the month were found right since, replayed: it was appended again',
    landing         LowCardinality(String) COMMENT 'landing table that its row is for, of expired and reconciled',
    month           UInt32 COMMENT 'month of its row as 202603, of expired and reconciled',
    at              DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = MergeTree
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What became of records that are dead letters, or are about to be, and of batches whose plan had expired.';

ALTER TABLE deadletters
    COMMENT COLUMN IF EXISTS log_topic 'topic of the record, with its prefix',
    COMMENT COLUMN IF EXISTS log_partition 'partition of the record',
    COMMENT COLUMN IF EXISTS log_offset 'offset of the record in its partition',
    COMMENT COLUMN IF EXISTS key 'of the record, as it came, empty: none',
    COMMENT COLUMN IF EXISTS value 'of the record, as it came',
    COMMENT COLUMN IF EXISTS reason 'why it is not in the landing table: malformed or month frozen',
    COMMENT COLUMN IF EXISTS detail 'the reason in full',
    COMMENT COLUMN IF EXISTS headers.key 'keys of its headers, as they came',
    COMMENT COLUMN IF EXISTS headers.value 'values of its headers, as they came',
    MODIFY COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';
