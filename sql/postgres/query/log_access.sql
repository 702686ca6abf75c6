-- log_access: adds a line to the access log: the change $1 of the organization $2, of whose access $3.
SELECT private.log_access($1::text, $2::uuid, $3::text)
