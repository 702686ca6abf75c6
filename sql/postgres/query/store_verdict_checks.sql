-- store_verdict_checks: stores the counts of a night, which replace those of an earlier check of the same day.
INSERT INTO private.verdict_checks
    (day, relabelling, reach, rows, looks, alarmed_looks, alarmed_row_quarters, moves, held_moves)
SELECT
    $1::date,
    relabelling,
    reach,
    rows,
    looks,
    alarmed_looks,
    alarmed_row_quarters,
    moves,
    held_moves
FROM jsonb_to_recordset($2::jsonb) AS checks (
    relabelling text,
    reach text,
    rows int,
    looks int,
    alarmed_looks int,
    alarmed_row_quarters int,
    moves int,
    held_moves int
)
ON CONFLICT (day, relabelling, reach) DO UPDATE
SET
    rows = excluded.rows,
    looks = excluded.looks,
    alarmed_looks = excluded.alarmed_looks,
    alarmed_row_quarters = excluded.alarmed_row_quarters,
    moves = excluded.moves,
    held_moves = excluded.held_moves
