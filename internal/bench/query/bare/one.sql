-- one: the least that a statement costs.
SELECT 1
