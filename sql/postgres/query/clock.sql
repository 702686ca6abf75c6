-- clock: the present time, as this server tells it.
SELECT now() AS now
