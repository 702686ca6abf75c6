-- Changes of access and brands: of organizations, users, their roles, API keys, brands, and analysts of the warehouse,
-- which are files and no rows here. Triggers write it in the transaction of any change. Nothing updates or deletes its
-- rows: the service may only add, and their subjects may be deleted.
CREATE TABLE public.audit_log (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT audit_log_pkey PRIMARY KEY,
    organization_id uuid,
    actor_id        uuid,
    action          text NOT NULL CONSTRAINT audit_log_action_length CHECK (char_length(action) BETWEEN 1 AND 100),
    subject         text NOT NULL CONSTRAINT audit_log_subject_length CHECK (char_length(subject) <= 1000),
    detail          jsonb NOT NULL DEFAULT '{}',
    at              timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX audit_log_organization_id_idx ON public.audit_log (organization_id, at DESC);
CREATE INDEX audit_log_at_idx ON public.audit_log (at DESC);
COMMENT ON TABLE public.audit_log IS 'Who did what to keys, members, brands and analysts. It only grows.';
COMMENT ON COLUMN public.audit_log.organization_id IS 'Kept when the organization is deleted; null: of no organization, such as a user who is in none.';
COMMENT ON COLUMN public.audit_log.actor_id IS 'The user of a token; null: the command line.';
COMMENT ON COLUMN public.audit_log.action IS 'Such as: key added.';
COMMENT ON COLUMN public.audit_log.subject IS 'To whom or what: a slug, an email, a key''s prefix and name, an analyst''s login.';
COMMENT ON COLUMN public.audit_log.detail IS 'Of a change: each column with its old and its new value.';

-- Where a change came from, for the operator alone.
CREATE TABLE private.audit_origins (
    audit_id uuid CONSTRAINT audit_origins_pkey PRIMARY KEY
                  CONSTRAINT audit_origins_audit_id_fkey REFERENCES public.audit_log ON DELETE CASCADE,
    actor    text NOT NULL CONSTRAINT audit_origins_actor_length CHECK (char_length(actor) <= 1000),
    address  inet DEFAULT inet_client_addr()
);
COMMENT ON TABLE private.audit_origins IS 'Where the changes of the audit log came from.';
COMMENT ON COLUMN private.audit_origins.actor IS 'The user of a token, through the system''s user, host and command, or the login.';
COMMENT ON COLUMN private.audit_origins.address IS 'Where the connection came from; null: from a local socket.';

CALL private.protect('public.audit_log', 'SELECT');
CALL private.admit('public.audit_log', 'admin');

CALL private.protect('private.audit_origins', 'SELECT');

CREATE FUNCTION private.log_audit(action text, organization uuid, subject text, detail jsonb DEFAULT '{}') RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    WITH added AS (
        INSERT INTO public.audit_log (organization_id, actor_id, action, subject, detail)
        VALUES (organization, private.user_id(), action, left(subject, 1000), detail)
        RETURNING id
    )
    INSERT INTO private.audit_origins (audit_id, actor)
    SELECT
        id,
        left(concat_ws(' through ',
            nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
            coalesce(nullif(current_setting('answerscope.actor', true), ''), session_user)), 1000)
    FROM added
$$;
COMMENT ON FUNCTION private.log_audit(text, uuid, text, jsonb) IS 'Adds a line to the audit log.';
GRANT EXECUTE ON FUNCTION private.log_audit(text, uuid, text, jsonb) TO answerscope_service;

CREATE FUNCTION private.log_audit_of_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r      jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    verb   text := CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END;
    detail jsonb := '{}';
BEGIN
    IF TG_OP = 'UPDATE' THEN
        detail := (
            SELECT coalesce(jsonb_object_agg(key, jsonb_build_array(before.value, after.value)), '{}')
            FROM jsonb_each(to_jsonb(OLD)) AS before
            JOIN jsonb_each(r) AS after USING (key)
            WHERE before.value <> after.value AND key NOT IN ('updated_at', 'revision'));
        IF detail = '{}' THEN
            RETURN NULL;
        END IF;
    END IF;
    CASE TG_TABLE_NAME
        WHEN 'organizations' THEN
            PERFORM private.log_audit('organization ' || verb, (r ->> 'id')::uuid, r ->> 'slug', detail);
        WHEN 'users' THEN
            PERFORM private.log_audit(
                CASE
                    WHEN detail ? 'password_hash' THEN 'password set'
                    WHEN detail ? 'is_active' THEN CASE r ->> 'is_active' WHEN 'true' THEN 'user enabled' ELSE 'user disabled' END
                    ELSE 'user ' || verb
                END,
                (SELECT m.organization_id FROM public.members AS m WHERE m.user_id = (r ->> 'id')::uuid),
                r ->> 'email', detail - 'password_hash');
        WHEN 'members' THEN
            PERFORM private.log_audit('member ' || verb, (r ->> 'organization_id')::uuid,
                coalesce((SELECT u.email::text FROM private.users AS u WHERE u.id = (r ->> 'user_id')::uuid), r ->> 'user_id')
                    || ' as ' || (r ->> 'role'), detail);
        WHEN 'api_keys' THEN
            PERFORM private.log_audit('key ' || CASE WHEN TG_OP = 'UPDATE' AND r ->> 'revoked_at' IS NOT NULL THEN 'revoked' ELSE verb END,
                (r ->> 'organization_id')::uuid, (r ->> 'prefix') || '… ' || (r ->> 'name'), detail);
        WHEN 'brands' THEN
            PERFORM private.log_audit('brand ' || verb, (r ->> 'organization_id')::uuid, r ->> 'slug', detail);
    END CASE;
    RETURN OLD; -- a deletion before which it runs goes on
END
$$;

CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF name, time_zone ON public.organizations
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE OF email, password_hash, is_active ON private.users
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit_delete BEFORE DELETE ON private.users -- while they still are a member
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF role ON public.members
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF user_id, scopes, expires_at, revoked_at ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF name, slug, industry, region, language, aliases, is_active ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
