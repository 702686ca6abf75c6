-- Who gave or took access, when and from where: organizations, users, their roles, API keys, and analysts of the warehouse,
-- whose files are no rows here. Triggers write it in the transaction of the change, whichever way that comes. Nothing
-- updates or deletes its rows: the service may only add, and what they are about may be deleted.
CREATE TABLE private.access_log (
    id              bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT access_log_pkey PRIMARY KEY,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor           text NOT NULL CONSTRAINT access_log_actor_length CHECK (char_length(actor) <= 1000),
    address         inet DEFAULT inet_client_addr(),
    change          text NOT NULL CONSTRAINT access_log_change_length CHECK (char_length(change) BETWEEN 1 AND 100),
    organization_id uuid,
    subject         text NOT NULL CONSTRAINT access_log_subject_length CHECK (char_length(subject) <= 1000)
);
COMMENT ON TABLE private.access_log IS 'Who gave or took access, when and from where.';
COMMENT ON COLUMN private.access_log.actor IS 'The user of a token, through the system''s user, host and command, or the login.';
COMMENT ON COLUMN private.access_log.address IS 'Where the connection came from; null: from a local socket.';
COMMENT ON COLUMN private.access_log.change IS 'Such as: key created.';
COMMENT ON COLUMN private.access_log.subject IS 'Whose access: a slug, an email, a key''s prefix and name, an analyst''s login.';

ALTER TABLE private.access_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.access_log FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.access_log TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT ON private.access_log TO answerscope_service;

CREATE FUNCTION private.log_access(change text, organization uuid, subject text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    INSERT INTO private.access_log (actor, change, organization_id, subject)
    VALUES (
        left(concat_ws(' through ',
            nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
            coalesce(nullif(current_setting('answerscope.actor', true), ''), session_user)), 1000),
        change, organization, left(subject, 1000))
$$;
COMMENT ON FUNCTION private.log_access(text, uuid, text) IS 'Adds a line to the access log.';
GRANT EXECUTE ON FUNCTION private.log_access(text, uuid, text) TO answerscope_service;

CREATE FUNCTION private.log_access_of_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r    jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    verb text := CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END;
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'organizations' THEN
            PERFORM private.log_access('organization ' || verb, (r ->> 'id')::uuid, r ->> 'slug');
        WHEN 'users' THEN
            PERFORM private.log_access('user ' || verb, NULL, r ->> 'email');
        WHEN 'members' THEN
            PERFORM private.log_access('member ' || verb, (r ->> 'organization_id')::uuid,
                coalesce((SELECT u.email::text FROM private.users AS u WHERE u.id = (r ->> 'user_id')::uuid), r ->> 'user_id')
                    || ' as ' || (r ->> 'role'));
        WHEN 'api_keys' THEN
            PERFORM private.log_access('key ' || CASE WHEN TG_OP = 'UPDATE' AND r ->> 'revoked_at' IS NOT NULL THEN 'revoked' ELSE verb END,
                (r ->> 'organization_id')::uuid, (r ->> 'prefix') || '… ' || (r ->> 'name'));
    END CASE;
    RETURN NULL;
END
$$;

CREATE TRIGGER log_access AFTER INSERT OR DELETE ON public.organizations
    FOR EACH ROW EXECUTE FUNCTION private.log_access_of_row();
CREATE TRIGGER log_access AFTER INSERT OR DELETE OR UPDATE OF email, password_hash, is_active ON private.users
    FOR EACH ROW EXECUTE FUNCTION private.log_access_of_row();
CREATE TRIGGER log_access AFTER INSERT OR DELETE OR UPDATE OF role ON public.members
    FOR EACH ROW EXECUTE FUNCTION private.log_access_of_row();
CREATE TRIGGER log_access AFTER INSERT OR DELETE OR UPDATE OF user_id, scopes, expires_at, revoked_at ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.log_access_of_row();
