-- What a purge or an expiry leaves of a part may be a part without rows. The server
-- removes those within a minute, and the tokens of their inserts with them: a replay
-- of such an insert would bring back what was deleted (200 rows of 100). So they stay,
-- a few hundred bytes each.
--
-- Expiry drops whole parts and rewrites none: a partition is a month, and a month
-- expires whole. When it may is said by a TTL once it is frozen.
ALTER TABLE answers MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE answers MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE answers MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE visits MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE visits MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE visits MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE deadletters MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE deadletters MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE deadletters MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE answer_daily MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE entity_prompt_daily MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE citation_daily MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE citations MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE shopping_cards MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE visit_daily MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE log_progress MODIFY SETTING remove_empty_parts = 0;
