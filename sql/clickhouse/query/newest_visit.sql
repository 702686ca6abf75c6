-- newest_visit: the latest time in the id of any visit that has landed, in Unix milliseconds; no row if none has.
-- at is within a day of that time, so that it is found among the last days.
SELECT max(toUInt64(bitShiftRight(toUInt128(id), 80))) AS newest
FROM visits
WHERE day >= (SELECT max(day) - 2 FROM visits)
HAVING count() > 0
