-- How often the warehouse was changed, or may have been: drawn by those who hold the sink lock when they release it,
-- and by the mirror when it has copied. Who keeps an answer of the warehouse sees by it that it is still right.
CREATE SEQUENCE private.warehouse_changes;
GRANT USAGE, SELECT ON SEQUENCE private.warehouse_changes TO answerscope_service;
