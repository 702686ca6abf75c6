-- Counts of how often the rule of verdicts says "moved", night by night: of answers relabelled so that nothing changed,
-- and of the answers as they are. They sum over all brands of all organizations and name none of them.
CREATE TABLE private.verdict_checks (
    day                  date,
    relabelling          text CONSTRAINT verdict_checks_relabelling_known CHECK (relabelling IN ('none', 'signs', 'days')),
    reach                text CONSTRAINT verdict_checks_reach_known CHECK (reach IN ('brand', 'prompts')),
    rows                 int NOT NULL,
    looks                int NOT NULL,
    alarmed_looks        int NOT NULL,
    row_quarters         float8 GENERATED ALWAYS AS (looks / 90.0) STORED,
    alarmed_row_quarters int NOT NULL,
    moves                int NOT NULL,
    held_moves           int NOT NULL,
    CONSTRAINT verdict_checks_pkey PRIMARY KEY (day, relabelling, reach)
);
COMMENT ON TABLE private.verdict_checks IS 'The nightly check of verdicts: how often they alarm although nothing changed, and how often moves held.';
COMMENT ON COLUMN private.verdict_checks.day IS 'The last UTC day that was looked at. A check of the same day replaces it.';
COMMENT ON COLUMN private.verdict_checks.relabelling IS 'How answers were changed so that nothing moved; none: they are as they came.';
COMMENT ON COLUMN private.verdict_checks.rows IS 'Brands and platforms of brands that have 56 days with answers.';
COMMENT ON COLUMN private.verdict_checks.looks IS 'Verdicts: at most the last 90 days of each row.';
COMMENT ON COLUMN private.verdict_checks.alarmed_looks IS 'Verdicts that are a move of this reach.';
COMMENT ON COLUMN private.verdict_checks.row_quarters IS 'Looks, in quarters of 90.';
COMMENT ON COLUMN private.verdict_checks.alarmed_row_quarters IS 'Rows with such a verdict.';
COMMENT ON COLUMN private.verdict_checks.moves IS 'Moves seen 28 days ago or earlier that can be compared with their next 14 days.';
COMMENT ON COLUMN private.verdict_checks.held_moves IS 'Moves whose next 14 days differ from before in the same direction, at least half as much.';

CALL private.protect('private.verdict_checks', 'SELECT, INSERT, UPDATE');
