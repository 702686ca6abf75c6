-- Grants for River's tables, which its own migrator has just migrated (migrateQueue), for our processes alone.
DO $queue$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['river_job', 'river_leader', 'river_migration', 'river_notification', 'river_queue'] LOOP
        CALL private.protect(format('private.%I', name)::regclass);
    END LOOP;
END
$queue$;
GRANT USAGE ON SEQUENCE private.river_job_id_seq, private.river_notification_id_seq TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.river_job_state_in_bitmask(bit, private.river_job_state) TO answerscope_service;
