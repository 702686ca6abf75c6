-- clock: the time of this server.
SELECT now() AS now
