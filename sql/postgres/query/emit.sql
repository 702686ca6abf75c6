-- emit: adds an event of a brand once by its key, if it has one, and returns whether it was added.
SELECT private.emit($1, $2, $3, $4, $5) IS NOT NULL
