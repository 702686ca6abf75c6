-- A limit of rows: how many there may be, what an error says, and which rows r count beside the new one, $1.
CREATE FUNCTION private.limit_rows() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    is_full bool;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(TG_TABLE_NAME || ' of ' || NEW.organization_id, 0)); -- two at once count each other
    EXECUTE format('SELECT count(*) >= $2 FROM %s AS r WHERE %s', TG_RELID::regclass, TG_ARGV[2]) INTO is_full USING NEW, TG_ARGV[0]::int;
    IF is_full THEN
        RAISE EXCEPTION USING MESSAGE = TG_ARGV[1], ERRCODE = coalesce(TG_ARGV[3], 'program_limit_exceeded');
    END IF;
    RETURN NEW;
END
$$;

-- Where events are posted, and each delivery of one. A delivery is its own queue: a process of the pipeline leases it,
-- sends it, and ends it if its lease is still its own.
CREATE TABLE public.webhook_endpoints (
    id                uuid DEFAULT gen_random_uuid() CONSTRAINT webhook_endpoints_pkey PRIMARY KEY,
    organization_id   uuid NOT NULL CONSTRAINT webhook_endpoints_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id          uuid CONSTRAINT webhook_endpoints_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    kind              text NOT NULL DEFAULT 'webhook' CONSTRAINT webhook_endpoints_kind_is_known CHECK (kind IN ('webhook', 'slack')),
    url               text NOT NULL CONSTRAINT webhook_endpoints_url_form CHECK (octet_length(url) <= 2048 AND url ~ '^https?://[^/?#@[:space:]]+'),
    description       text NOT NULL DEFAULT '' CONSTRAINT webhook_endpoints_description_length CHECK (char_length(description) <= 200),
    events            text[] NOT NULL DEFAULT '{}' CONSTRAINT webhook_endpoints_events_are_known CHECK (private.check_events(events)),
    is_active         bool NOT NULL DEFAULT true,
    failing_since     timestamptz,
    disabled_at       timestamptz,
    disabled_reason   text CONSTRAINT webhook_endpoints_disabled_reason_is_known CHECK (disabled_reason IN ('gone', 'failing')),
    created_by        uuid CONSTRAINT webhook_endpoints_created_by_fkey REFERENCES private.users ON DELETE SET NULL,
    last_delivered_at timestamptz,
    created_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_endpoints_organization_id_idx ON public.webhook_endpoints (organization_id);
CREATE INDEX webhook_endpoints_brand_id_idx ON public.webhook_endpoints (brand_id);
CREATE INDEX webhook_endpoints_created_by_idx ON public.webhook_endpoints (created_by);
COMMENT ON TABLE public.webhook_endpoints IS 'Where events are posted. Made by /api/webhooks: the secret is shown once.';
COMMENT ON COLUMN public.webhook_endpoints.brand_id IS 'Null: every brand of the organization, and what is about the organization.';
COMMENT ON COLUMN public.webhook_endpoints.url IS 'Of Slack its origin and last four characters: the whole is a secret.';
COMMENT ON COLUMN public.webhook_endpoints.events IS 'The types that are sent; empty: all.';
COMMENT ON COLUMN public.webhook_endpoints.failing_since IS 'The first failure after the last success.';
COMMENT ON COLUMN public.webhook_endpoints.disabled_at IS 'When deliveries were stopped, because it was gone or failed for days. Switching it on clears this.';

CREATE TABLE private.webhook_secrets (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT webhook_secrets_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT webhook_secrets_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    endpoint_id     uuid NOT NULL CONSTRAINT webhook_secrets_endpoint_id_fkey REFERENCES public.webhook_endpoints ON DELETE CASCADE,
    sealed          text NOT NULL CONSTRAINT webhook_secrets_sealed_length CHECK (char_length(sealed) BETWEEN 1 AND 4000),
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_secrets_organization_id_idx ON private.webhook_secrets (organization_id);
CREATE INDEX webhook_secrets_endpoint_id_idx ON private.webhook_secrets (endpoint_id);
COMMENT ON TABLE private.webhook_secrets IS 'What deliveries are signed with; of Slack the address.';
COMMENT ON COLUMN private.webhook_secrets.sealed IS 'Encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';
COMMENT ON COLUMN private.webhook_secrets.expires_at IS 'Of one that was rotated: until when it signs too; null: the current one.';

CREATE TABLE public.webhook_deliveries (
    id               uuid DEFAULT gen_random_uuid() CONSTRAINT webhook_deliveries_pkey PRIMARY KEY,
    organization_id  uuid NOT NULL CONSTRAINT webhook_deliveries_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    endpoint_id      uuid NOT NULL CONSTRAINT webhook_deliveries_endpoint_id_fkey REFERENCES public.webhook_endpoints ON DELETE CASCADE,
    event_id         uuid NOT NULL CONSTRAINT webhook_deliveries_event_id_fkey REFERENCES public.events ON DELETE CASCADE,
    event            text NOT NULL CONSTRAINT webhook_deliveries_event_length CHECK (char_length(event) <= 40), -- events checks it
    status           text NOT NULL DEFAULT 'pending'
                     CONSTRAINT webhook_deliveries_status_is_known CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
    attempts         int NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz NOT NULL DEFAULT now(),
    leased_until     timestamptz,
    holder           uuid,
    response_status  int,
    duration_ms      int,
    error            text CONSTRAINT webhook_deliveries_error_length CHECK (char_length(error) <= 200),
    response_excerpt text CONSTRAINT webhook_deliveries_response_excerpt_length CHECK (char_length(response_excerpt) <= 512),
    delivered_at     timestamptz,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT webhook_deliveries_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id)
);
CREATE INDEX webhook_deliveries_organization_id_idx ON public.webhook_deliveries (organization_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_endpoint_id_idx ON public.webhook_deliveries (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_due_idx ON public.webhook_deliveries (endpoint_id, (event <> 'webhook.test'), next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_leased_idx ON public.webhook_deliveries (endpoint_id) WHERE leased_until IS NOT NULL;
COMMENT ON TABLE public.webhook_deliveries IS 'One event for one endpoint, for 90 days.';
COMMENT ON COLUMN public.webhook_deliveries.event IS 'The event''s type.';
COMMENT ON COLUMN public.webhook_deliveries.attempts IS 'Of at most ten; a redelivery starts again at 0.';
COMMENT ON COLUMN public.webhook_deliveries.next_attempt_at IS 'When it is due, while it is pending.';
COMMENT ON COLUMN public.webhook_deliveries.holder IS 'The process that is sending it, until leased_until.';
COMMENT ON COLUMN public.webhook_deliveries.error IS 'Of the last attempt; null: it succeeded.';
COMMENT ON COLUMN public.webhook_deliveries.response_excerpt IS 'The beginning of the last response.';

-- An endpoint's brand is one of its own organization, whatever the client writes; one that is switched on starts anew.
CREATE FUNCTION private.fill_endpoint() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF NEW.brand_id IS NOT NULL THEN
        NEW.organization_id := coalesce(
            (SELECT b.organization_id FROM public.brands AS b WHERE b.id = NEW.brand_id AND b.organization_id = NEW.organization_id),
            '00000000-0000-0000-0000-000000000000');
    END IF;
    IF NEW.is_active THEN
        NEW.disabled_at := NULL;
        NEW.disabled_reason := NULL;
        NEW.failing_since := CASE WHEN OLD.is_active THEN NEW.failing_since END;
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION private.host_of(url text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT substring(url FROM '^https?://([^/?#]+)')
$$;
COMMENT ON FUNCTION private.host_of(text) IS 'The host of an address, whose path may be a secret.';
GRANT EXECUTE ON FUNCTION private.host_of(text) TO answerscope_service;

-- What is pending for an endpoint that is disabled is cancelled. For one that was switched off by hand it waits. Events
-- that either would have got while it is off are cancelled deliveries, which can be sent again.
CREATE FUNCTION private.log_endpoint() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r      public.webhook_endpoints := coalesce(NEW, OLD);
    action text := CASE TG_OP WHEN 'INSERT' THEN 'webhook added' WHEN 'DELETE' THEN 'webhook deleted' ELSE 'webhook changed' END;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.disabled_at IS NOT NULL AND OLD.disabled_at IS NULL THEN
        action := 'webhook disabled';
        UPDATE public.webhook_deliveries SET status = 'cancelled', holder = NULL, leased_until = NULL WHERE endpoint_id = r.id AND status = 'pending';
        PERFORM private.emit(r.organization_id, r.brand_id, 'webhook_endpoint.disabled', jsonb_build_object(
            'endpoint', jsonb_build_object('id', r.id, 'host', private.host_of(r.url), 'reason', r.disabled_reason)));
    END IF;
    PERFORM private.log_audit(action, r.organization_id, private.host_of(r.url), jsonb_build_object('id', r.id));
    RETURN NULL;
END
$$;

CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON public.webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION private.fill_endpoint();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION private.limit_rows(10, 'an organization has at most 10 endpoints: remove one first',
        'r.organization_id = ($1).organization_id');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE ON public.webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION private.log_endpoint();
CREATE TRIGGER log_audit_change AFTER UPDATE ON public.webhook_endpoints -- not of what each delivery writes
    FOR EACH ROW WHEN ((OLD.description, OLD.events, OLD.brand_id, OLD.is_active, OLD.disabled_at)
        IS DISTINCT FROM (NEW.description, NEW.events, NEW.brand_id, NEW.is_active, NEW.disabled_at))
    EXECUTE FUNCTION private.log_endpoint();

CALL private.protect('public.webhook_endpoints');
CALL private.admit('public.webhook_endpoints', 'admin', 'admin', 'SELECT, UPDATE (description, events, brand_id, is_active), DELETE');

CALL private.protect('private.webhook_secrets');

CALL private.protect('public.webhook_deliveries');
CALL private.admit('public.webhook_deliveries', 'admin');

CREATE FUNCTION private.next_daytime(organization uuid) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
    SELECT CASE
        WHEN (now() AT TIME ZONE time_zone)::time BETWEEN '08:00' AND '20:00' THEN now()
        ELSE (date_trunc('day', now() AT TIME ZONE time_zone - INTERVAL '8 h') + INTERVAL '1 day 8 h') AT TIME ZONE time_zone
    END
    FROM public.organizations
    WHERE id = organization
$$;
COMMENT ON FUNCTION private.next_daytime(uuid) IS 'Now, if that is from 08:00 to 20:00 in the zone of an organization; else the next 08:00.';

CREATE FUNCTION private.add_deliveries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, event, status, next_attempt_at)
    SELECT
        e.organization_id, e.id, NEW.id, NEW.type, CASE WHEN e.is_active THEN 'pending' ELSE 'cancelled' END,
        CASE WHEN e.kind = 'slack' AND NEW.type = 'visibility.moved' THEN private.next_daytime(e.organization_id) ELSE now() END
    FROM public.webhook_endpoints AS e
    WHERE e.organization_id = NEW.organization_id
      AND (e.brand_id IS NULL OR e.brand_id = NEW.brand_id OR NEW.type LIKE 'platform.%') -- which concern every brand
      AND (e.events = '{}' OR NEW.type = ANY (e.events))
      AND (NEW.type <> 'webhook_endpoint.disabled' OR NEW.data #>> '{endpoint,id}' <> e.id::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER add_deliveries AFTER INSERT ON public.events -- a test is for one endpoint, whatever that listens to
    FOR EACH ROW WHEN (NEW.type <> 'webhook.test') EXECUTE FUNCTION private.add_deliveries();
