-- verdict_checks: what the checks of the days from $1 to $2 counted, summed by relabelling and reach; moves are those of
-- the newest day, which has the moves of the days before too.
SELECT
    relabelling,
    reach,
    count(*)::int AS nights,
    sum(rows)::int AS rows,
    sum(looks)::int AS looks,
    sum(alarmed_looks)::int AS alarmed_looks,
    sum(row_quarters) AS row_quarters,
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
