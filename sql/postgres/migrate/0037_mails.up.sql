-- Whom events are mailed to, and each mail. Mails are leased as deliveries are. They are no table that clients read,
-- since a mail may hold a link that signs in.
CREATE FUNCTION private.mailed_events() RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT ARRAY['visibility.moved', 'platform.degraded', 'platform.recovered', 'tracking.skipped', 'report.weekly']
$$;
COMMENT ON FUNCTION private.mailed_events() IS 'The types of events that a subscription may have.';
GRANT EXECUTE ON FUNCTION private.mailed_events() TO answerscope_service, authenticated;

CREATE TABLE public.subscriptions (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT subscriptions_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT subscriptions_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id        uuid CONSTRAINT subscriptions_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    user_id         uuid CONSTRAINT subscriptions_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    address         private.citext CONSTRAINT subscriptions_address_form
                    CHECK (octet_length(address::text) <= 320 AND address::text ~ '^[^@[:space:][:cntrl:],;<>]+@[^@[:space:][:cntrl:],;<>]+$'),
    events          text[] NOT NULL DEFAULT private.mailed_events()
                    CONSTRAINT subscriptions_events_are_known CHECK (private.check_events(events, private.mailed_events())),
    drops_only      bool NOT NULL DEFAULT true,
    confirmed_at    timestamptz,
    stopped_at      timestamptz,
    stopped_reason  text CONSTRAINT subscriptions_stopped_reason_is_known CHECK (stopped_reason IN ('unsubscribed', 'refused')),
    last_sent_at    timestamptz,
    started_at      timestamptz NOT NULL DEFAULT now(),
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT subscriptions_receiver_is_one CHECK ((user_id IS NULL) <> (address IS NULL)),
    CONSTRAINT subscriptions_receiver_key UNIQUE NULLS NOT DISTINCT (organization_id, brand_id, user_id, address)
);
CREATE INDEX subscriptions_brand_id_idx ON public.subscriptions (brand_id);
CREATE INDEX subscriptions_user_id_idx ON public.subscriptions (user_id);
COMMENT ON TABLE public.subscriptions IS 'Whom events are mailed to: a user, or an address.';
COMMENT ON COLUMN public.subscriptions.brand_id IS 'Null: every brand of the organization.';
COMMENT ON COLUMN public.subscriptions.user_id IS 'The user who subscribed; filled. Null: it is an address.';
COMMENT ON COLUMN public.subscriptions.events IS 'The types that are mailed; an empty list is filled with all.';
COMMENT ON COLUMN public.subscriptions.drops_only IS 'Whether visibility.moved is mailed only when something fell or has recovered.';
COMMENT ON COLUMN public.subscriptions.confirmed_at IS 'Of an address: it gets nothing before.';
COMMENT ON COLUMN public.subscriptions.stopped_at IS 'Nothing is mailed any more; null starts again.';
COMMENT ON COLUMN public.subscriptions.started_at IS 'When it was made, or last started again.';

CREATE TABLE private.mails (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT mails_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT mails_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    event_id        uuid CONSTRAINT mails_event_id_fkey REFERENCES public.events ON DELETE CASCADE,
    subscription_id uuid CONSTRAINT mails_subscription_id_fkey REFERENCES public.subscriptions ON DELETE CASCADE,
    template        text NOT NULL CONSTRAINT mails_template_length CHECK (octet_length(template) <= 200),
    recipient       private.citext NOT NULL CONSTRAINT mails_recipient_length CHECK (octet_length(recipient::text) <= 320),
    sealed          text CONSTRAINT mails_sealed_length CHECK (char_length(sealed) <= 4000),
    status          text NOT NULL DEFAULT 'pending'
                    CONSTRAINT mails_status_is_known CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
    attempts        int NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    leased_until    timestamptz,
    holder          uuid,
    response_status int,
    duration_ms     int,
    error           text CONSTRAINT mails_error_length CHECK (char_length(error) <= 200),
    delivered_at    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT mails_event_id_recipient_key UNIQUE (event_id, recipient)
);
CREATE INDEX mails_organization_id_idx ON private.mails (organization_id);
CREATE INDEX mails_subscription_id_idx ON private.mails (subscription_id, created_at DESC);
CREATE INDEX mails_due_idx ON private.mails ((sealed IS NULL), next_attempt_at) WHERE status = 'pending';
COMMENT ON TABLE private.mails IS 'Mails, for 90 days.';
COMMENT ON COLUMN private.mails.template IS 'The type of its event, or confirm, invitation, reset, password_changed.';
COMMENT ON COLUMN private.mails.sealed IS 'What its template needs and nobody may read, such as a link; cleared when it ends.';
COMMENT ON COLUMN private.mails.response_status IS 'The code of the mail server''s last reply.';

CREATE TABLE private.one_time_links (
    hash            bytea CONSTRAINT one_time_links_pkey PRIMARY KEY CONSTRAINT one_time_links_hash_length CHECK (octet_length(hash) = 32),
    organization_id uuid NOT NULL CONSTRAINT one_time_links_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    kind            text NOT NULL CONSTRAINT one_time_links_kind_is_known CHECK (kind IN ('invitation', 'password_reset', 'confirmation')),
    subject         uuid NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX one_time_links_organization_id_idx ON private.one_time_links (organization_id);
CREATE INDEX one_time_links_subject_idx ON private.one_time_links (subject);
COMMENT ON TABLE private.one_time_links IS 'Links that work once.';
COMMENT ON COLUMN private.one_time_links.hash IS 'SHA-256 of the token in the link.';
COMMENT ON COLUMN private.one_time_links.subject IS 'The invitation, the user, or the subscription.';

CREATE FUNCTION private.fill_subscription() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.organization_id := CASE
            WHEN NEW.brand_id IS NULL THEN coalesce(NEW.organization_id, private.org_id())
            ELSE coalesce(
                (SELECT b.organization_id FROM public.brands AS b
                 WHERE b.id = NEW.brand_id AND b.organization_id = coalesce(NEW.organization_id, b.organization_id)),
                '00000000-0000-0000-0000-000000000000')
        END;
        NEW.user_id := CASE WHEN NEW.address IS NULL THEN coalesce(private.user_id(), NEW.user_id) END;
    ELSIF OLD.stopped_at IS NOT NULL AND NEW.stopped_at IS NULL THEN
        NEW.started_at := now();
    END IF;
    IF NEW.events = '{}' THEN
        NEW.events := private.mailed_events();
    END IF;
    NEW.stopped_reason := CASE WHEN NEW.stopped_at IS NOT NULL THEN coalesce(NEW.stopped_reason, 'unsubscribed') END;
    RETURN NEW;
END
$$;
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON public.subscriptions
    FOR EACH ROW EXECUTE FUNCTION private.fill_subscription();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.subscriptions
    FOR EACH ROW WHEN (NEW.address IS NOT NULL) EXECUTE FUNCTION private.limit_rows(20, 'a brand has at most 20 addresses: remove one first',
        'r.organization_id = ($1).organization_id AND r.brand_id IS NOT DISTINCT FROM ($1).brand_id AND r.address IS NOT NULL');
CREATE TRIGGER limit_rows BEFORE INSERT ON private.one_time_links
    FOR EACH ROW WHEN (NEW.kind <> 'password_reset') EXECUTE FUNCTION private.limit_rows(20, 'at most 20 new addresses an hour: try again later',
        'r.organization_id = ($1).organization_id AND r.kind = ($1).kind AND r.created_at > now() - INTERVAL ''1 hour''',
        'AS429');

CALL private.protect('public.subscriptions');
CREATE POLICY own ON public.subscriptions TO authenticated
    USING (organization_id = (SELECT private.org_id()) AND user_id = (SELECT private.user_id()));
CREATE POLICY reads ON public.subscriptions FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id('admin')));
CREATE POLICY deletes ON public.subscriptions FOR DELETE TO authenticated USING (organization_id = (SELECT private.org_id('admin')));
GRANT SELECT, INSERT (brand_id, events, drops_only), UPDATE (events, drops_only, stopped_at), DELETE ON public.subscriptions TO authenticated;

CALL private.protect('private.mails');

CALL private.protect('private.one_time_links');

-- An address has its subscription's mails once it is confirmed, a user while they are an active member. That an
-- endpoint was disabled is mailed to every admin.
CREATE FUNCTION private.add_mails() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.mails (organization_id, event_id, subscription_id, template, recipient, next_attempt_at)
    SELECT
        NEW.organization_id, NEW.id, r.subscription_id, NEW.type, r.recipient,
        CASE NEW.type WHEN 'visibility.moved' THEN private.next_daytime(NEW.organization_id) ELSE now() END
    FROM (
        SELECT s.id AS subscription_id, coalesce(u.email, CASE WHEN s.confirmed_at IS NOT NULL THEN s.address END) AS recipient
        FROM public.subscriptions AS s
        LEFT JOIN public.members AS m ON m.user_id = s.user_id AND m.organization_id = s.organization_id
        LEFT JOIN private.users AS u ON u.id = m.user_id AND u.is_active
        WHERE s.organization_id = NEW.organization_id
          AND s.stopped_at IS NULL
          AND (s.brand_id IS NULL OR s.brand_id = NEW.brand_id OR NEW.type LIKE 'platform.%')
          AND NEW.type = ANY (s.events)
          AND (NEW.type <> 'visibility.moved' OR NOT s.drops_only OR EXISTS (
                   SELECT FROM jsonb_array_elements(NEW.data -> 'moves') AS move WHERE move ->> 'verdict' <> 'moved_up'))
        UNION ALL
        SELECT NULL, u.email
        FROM public.members AS m
        JOIN private.users AS u ON u.id = m.user_id AND u.is_active
        WHERE m.organization_id = NEW.organization_id
          AND m.role IN ('admin', 'owner')
          AND NEW.type = 'webhook_endpoint.disabled'
    ) AS r
    WHERE octet_length(r.recipient::text) <= 320
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER add_mails AFTER INSERT ON public.events
    FOR EACH ROW EXECUTE FUNCTION private.add_mails();
