-- verdict_checks: the counts of the checks from day $1 to $2, summed by relabelling and reach. Row quarters are the mean
-- of the nights, which look at much the same days; moves are the newest day's, which counts all moves of a quarter.
SELECT
    relabelling,
    reach,
    count(*)::int AS nights,
    sum(rows)::int AS rows,
    sum(looks)::int AS looks,
    sum(alarmed_looks)::int AS alarmed_looks,
    avg(row_quarters) AS row_quarters,
    sum(alarmed_row_quarters)::int AS alarmed_row_quarters,
    (array_agg(moves ORDER BY day DESC))[1] AS moves,
    (array_agg(held_moves ORDER BY day DESC))[1] AS held_moves
FROM private.verdict_checks
WHERE day BETWEEN $1::date AND $2::date
GROUP BY
    relabelling,
    reach
ORDER BY
    array_position(ARRAY['signs', 'days', 'none'], relabelling),
    reach
