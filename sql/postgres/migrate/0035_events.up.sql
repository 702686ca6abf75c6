-- Events: what happened, for receivers and for people. The trigger of a change writes its event in the transaction of
-- the change; triggers of this table, in the next two migrations, write in the same transaction whom it is sent to.
CREATE FUNCTION private.check_events(events text[], allowed text[] DEFAULT ARRAY[
    'tracking.completed', 'tracking.failed', 'tracking.cancelled', 'tracking.skipped', 'visibility.moved',
    'platform.degraded', 'platform.recovered', 'report.weekly', 'suggestions.created', 'content_brief.created',
    'content_brief.sent', 'brand.created', 'brand.deleted', 'member.added', 'member.changed', 'member.removed',
    'key.created', 'key.revoked', 'webhook_endpoint.disabled', 'webhook.test'
]) RETURNS bool
LANGUAGE plpgsql IMMUTABLE SET search_path = '' AS $$
BEGIN
    IF events <@ allowed AND cardinality(events) <= cardinality(allowed) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'events: want some of %', array_to_string(allowed, ', ') USING ERRCODE = 'check_violation';
END
$$;
COMMENT ON FUNCTION private.check_events(text[], text[]) IS 'True for known types of events; others are refused by an error that lists these.';
GRANT EXECUTE ON FUNCTION private.check_events(text[], text[]) TO answerscope_service, authenticated;

CREATE TABLE public.events (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT events_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT events_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id        uuid,
    type            text NOT NULL CONSTRAINT events_type_is_known CHECK (private.check_events(ARRAY[type])),
    data            jsonb NOT NULL,
    key             text CONSTRAINT events_key_length CHECK (octet_length(key) <= 512),
    admin_only      bool NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT events_organization_id_key_key UNIQUE (organization_id, key)
);
CREATE INDEX events_organization_id_at_idx ON public.events (organization_id, at DESC, id DESC);
CREATE INDEX events_at_idx ON public.events (at);
COMMENT ON TABLE public.events IS 'What happened, for 90 days.';
COMMENT ON COLUMN public.events.brand_id IS 'Kept when the brand is deleted; null: it is about the organization.';
COMMENT ON COLUMN public.events.key IS 'By which an event that was computed is added once; null: a change.';
COMMENT ON COLUMN public.events.admin_only IS 'Whether only admins see it.';
COMMENT ON COLUMN public.events.at IS 'When it happened. Events may appear later, out of order: a reader overlaps by a minute.';

CALL private.protect('public.events', 'SELECT, DELETE');
CREATE POLICY reads ON public.events FOR SELECT TO authenticated
    USING (organization_id = (SELECT private.org_id()) AND (NOT admin_only OR organization_id = (SELECT private.org_id('admin'))));
GRANT SELECT ON public.events TO authenticated;

CREATE FUNCTION private.bounded(value jsonb, items int, bytes int) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = '' AS $$
DECLARE
    encoded bytea;
BEGIN
    CASE jsonb_typeof(value)
        WHEN 'string' THEN
            encoded := convert_to(value #>> '{}', 'UTF8');
            IF octet_length(encoded) <= bytes THEN
                RETURN value;
            END IF;
            WHILE get_byte(encoded, bytes) & 192 = 128 LOOP -- within a character
                bytes := bytes - 1;
            END LOOP;
            RETURN to_jsonb(convert_from(substring(encoded FOR bytes), 'UTF8'));
        WHEN 'array' THEN
            RETURN (
                SELECT coalesce(jsonb_agg(private.bounded(item, items, bytes) ORDER BY place), '[]')
                FROM jsonb_array_elements(value) WITH ORDINALITY AS u (item, place)
                WHERE place <= items);
        WHEN 'object' THEN
            RETURN (
                SELECT coalesce(jsonb_object_agg('more', length - items) FILTER (WHERE length > items), '{}')
                    || coalesce(jsonb_object_agg(key, private.bounded(field, items, bytes)), '{}')
                FROM (SELECT key, field, CASE jsonb_typeof(field) WHEN 'array' THEN jsonb_array_length(field) END AS length
                      FROM jsonb_each(value) AS fields (key, field)) AS fields);
        ELSE
            RETURN value;
    END CASE;
END
$$;
COMMENT ON FUNCTION private.bounded(jsonb, int, int) IS
    'A value whose lists have at most so many items, the number of the others as "more" beside them unless it has one, and its texts so many bytes.';

CREATE FUNCTION private.emit(organization uuid, brand uuid, event text, body jsonb, once text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    content jsonb := private.bounded(body, 20, 12000);
    added   uuid;
BEGIN
    IF octet_length(content::text) > 20000 THEN
        content := private.bounded(body, 0, 1000) || '{"truncated": true}';
    END IF;
    INSERT INTO public.events (organization_id, brand_id, type, data, key, admin_only)
    SELECT o.id, brand, event, content, once, event ~ '^(member|key|webhook)'
    FROM public.organizations AS o -- one that is being deleted, with its brands and members, is told nothing
    WHERE o.id = organization
    ON CONFLICT DO NOTHING
    RETURNING id INTO added;
    RETURN added;
END
$$;
COMMENT ON FUNCTION private.emit(uuid, uuid, text, jsonb, text) IS
    'Adds an event and returns its id; null: the organization is deleted, or an event has that key.';
GRANT EXECUTE ON FUNCTION private.emit(uuid, uuid, text, jsonb, text) TO answerscope_service;

CREATE FUNCTION private.brand_of(brand uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
    SELECT jsonb_build_object('id', b.id, 'name', b.name, 'slug', b.slug) FROM public.brands AS b WHERE b.id = brand
$$;
COMMENT ON FUNCTION private.brand_of(uuid) IS 'A brand as events name it.';
GRANT EXECUTE ON FUNCTION private.brand_of(uuid) TO answerscope_service;

CREATE FUNCTION private.emit_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r     jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    owner uuid := r ->> 'organization_id';
    brand uuid := r ->> 'brand_id';
    verb  text := CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'removed' ELSE 'changed' END;
    maker jsonb := (SELECT jsonb_build_object('user_id', u.id, 'email', u.email) FROM private.users AS u WHERE u.id = private.user_id());
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'tracking_jobs' THEN
            PERFORM private.emit(owner, brand, 'tracking.' || (r ->> 'status'), jsonb_build_object(
                'brand', private.brand_of(brand), 'job_id', r -> 'id', 'scheduled', r -> 'plan' = 'null', 'total', r -> 'total', 'result', r -> 'result',
                'failed_reason', r -> 'failed_reason', 'started_at', r -> 'started_at', 'finished_at', r -> 'finished_at'));
        WHEN 'content_briefs' THEN
            PERFORM private.emit(owner, brand, event, jsonb_build_object(
                'brand', private.brand_of(brand),
                'brief', jsonb_build_object(
                    'id', r -> 'id', 'title', r -> 'title', 'status', r -> 'status', 'suggestion_id', r -> 'suggestion_id',
                    'body', r -> 'body', 'body_truncated', octet_length(r ->> 'body') > 12000),
                'suggestion', (SELECT jsonb_build_object('id', s.id, 'kind', s.kind, 'text', s.text, 'reason', s.reason)
                               FROM public.suggestions AS s WHERE s.id = (r ->> 'suggestion_id')::uuid)))
            FROM unnest(ARRAY[CASE TG_OP WHEN 'INSERT' THEN 'content_brief.created' END,
                              CASE r ->> 'status' WHEN 'sent' THEN 'content_brief.sent' END]) AS event
            WHERE event IS NOT NULL;
        WHEN 'brands' THEN
            PERFORM private.emit(owner, (r ->> 'id')::uuid, CASE TG_OP WHEN 'INSERT' THEN 'brand.created' ELSE 'brand.deleted' END,
                jsonb_build_object('brand', jsonb_build_object('id', r -> 'id', 'name', r -> 'name', 'slug', r -> 'slug'), 'by', maker));
        WHEN 'users' THEN -- before the deletion, which removes the member
            PERFORM private.emit(m.organization_id, NULL, 'member.removed',
                jsonb_build_object('user_id', m.user_id, 'email', r -> 'email', 'role', m.role, 'by', maker))
            FROM public.members AS m
            WHERE m.user_id = (r ->> 'id')::uuid;
        WHEN 'members' THEN
            PERFORM private.emit(owner, NULL, 'member.' || verb,
                jsonb_build_object('user_id', u.id, 'email', u.email, 'role', r -> 'role', 'by', maker))
            FROM private.users AS u
            WHERE u.id = (r ->> 'user_id')::uuid;
        WHEN 'api_keys' THEN
            PERFORM private.emit(owner, NULL, CASE TG_OP WHEN 'INSERT' THEN 'key.created' ELSE 'key.revoked' END,
                jsonb_build_object(
                    'key', jsonb_build_object('id', r -> 'id', 'name', r -> 'name', 'prefix', r -> 'prefix', 'scopes', r -> 'scopes', 'expires_at', r -> 'expires_at'),
                    'user_id', r -> 'user_id', 'by', maker));
    END CASE;
    RETURN OLD; -- a deletion before which it runs goes on
END
$$;

CREATE TRIGGER emit AFTER UPDATE OF phase ON public.tracking_jobs
    FOR EACH ROW WHEN (NEW.phase = 'done' AND OLD.phase <> 'done') EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_insert AFTER INSERT ON public.content_briefs
    FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_sent AFTER UPDATE OF status ON public.content_briefs
    FOR EACH ROW WHEN (NEW.status = 'sent' AND OLD.status <> 'sent') EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit AFTER INSERT OR DELETE ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit BEFORE DELETE ON private.users
    FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit AFTER INSERT OR DELETE ON public.members
    FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_role AFTER UPDATE OF role ON public.members
    FOR EACH ROW WHEN (NEW.role <> OLD.role) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit AFTER INSERT ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_revoked AFTER UPDATE OF revoked_at ON public.api_keys
    FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_deleted AFTER DELETE ON public.api_keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL) EXECUTE FUNCTION private.emit_change();

CREATE FUNCTION private.emit_suggestions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.emit(organization_id, brand_id, 'suggestions.created', jsonb_build_object(
        'brand', private.brand_of(brand_id), 'count', count(*), 'more', greatest(count(*) - 20, 0),
        'suggestions', jsonb_agg(jsonb_build_object('id', id, 'kind', kind, 'text', text) ORDER BY place) FILTER (WHERE place <= 20)))
    FROM (SELECT *, row_number() OVER (PARTITION BY brand_id ORDER BY rank, kind) AS place -- the best of each kind, then the second ones
          FROM (SELECT *, row_number() OVER (PARTITION BY brand_id, kind ORDER BY score DESC NULLS LAST, key, id) AS rank
                FROM added) AS ranked) AS suggestions
    GROUP BY organization_id, brand_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER emit AFTER INSERT ON public.suggestions
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION private.emit_suggestions();
