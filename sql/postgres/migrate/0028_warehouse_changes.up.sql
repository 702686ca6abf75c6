-- The number of changes of the warehouse: raised by holders of the sink lock when they release it, and by the mirror
-- when it has copied. Caches of results compare it.
CREATE SEQUENCE private.warehouse_changes;
GRANT USAGE, SELECT ON SEQUENCE private.warehouse_changes TO answerscope_service;
