-- Organizations' own keys of AI platforms. The audit log names only the platform: it does not contain the encrypted
-- key, and a key that is encrypted anew is no change.
CREATE TABLE private.provider_keys (
    organization_id uuid CONSTRAINT provider_keys_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform        text CONSTRAINT provider_keys_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    sealed          text NOT NULL CONSTRAINT provider_keys_sealed_length CHECK (char_length(sealed) BETWEEN 1 AND 4000),
    last_characters text NOT NULL CONSTRAINT provider_keys_last_characters_length CHECK (char_length(last_characters) <= 4),
    set_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT provider_keys_pkey PRIMARY KEY (organization_id, platform)
);
COMMENT ON TABLE private.provider_keys IS 'Keys of AI platforms, of organizations that have their own.';
COMMENT ON COLUMN private.provider_keys.sealed IS 'The key, encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';
COMMENT ON COLUMN private.provider_keys.last_characters IS 'By which people know the key; empty: it is too short to show any.';

CALL private.protect('private.provider_keys');

CREATE FUNCTION private.log_provider_key() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit(
        CASE TG_OP WHEN 'DELETE' THEN 'provider key removed' ELSE 'provider key set' END,
        coalesce(NEW.organization_id, OLD.organization_id), coalesce(NEW.platform, OLD.platform));
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF set_at ON private.provider_keys
    FOR EACH ROW EXECUTE FUNCTION private.log_provider_key();

-- Limits that organizations set for their accounts at AI platforms, in place of the environment's and the platform's.
CREATE TABLE private.provider_limits (
    organization_id     uuid CONSTRAINT provider_limits_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform            text CONSTRAINT provider_limits_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    requests_per_minute int CONSTRAINT provider_limits_requests_per_minute_range CHECK (requests_per_minute BETWEEN 1 AND 1000000),
    tokens_per_minute   int CONSTRAINT provider_limits_tokens_per_minute_range CHECK (tokens_per_minute BETWEEN 0 AND 1000000000),
    in_flight           int CONSTRAINT provider_limits_in_flight_range CHECK (in_flight BETWEEN 1 AND 1000000),
    CONSTRAINT provider_limits_pkey PRIMARY KEY (organization_id, platform)
);
COMMENT ON TABLE private.provider_limits IS 'Limits that organizations set for their accounts at AI platforms; null is not set.';
COMMENT ON COLUMN private.provider_limits.tokens_per_minute IS '0: no limit.';

CALL private.protect('private.provider_limits');

CREATE FUNCTION private.log_provider_limits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit('provider limits set', NEW.organization_id, NEW.platform,
        to_jsonb(NEW) - 'organization_id' - 'platform');
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.provider_limits
    FOR EACH ROW EXECUTE FUNCTION private.log_provider_limits();

-- Which capture providers organizations ask for a consumer surface.
CREATE TABLE private.provider_orders (
    organization_id uuid CONSTRAINT provider_orders_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform        text CONSTRAINT provider_orders_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    providers       text[] NOT NULL CONSTRAINT provider_orders_providers_are_words CHECK (private.are_words(providers)),
    CONSTRAINT provider_orders_pkey PRIMARY KEY (organization_id, platform)
);
COMMENT ON TABLE private.provider_orders IS 'Capture providers that organizations ask for a consumer surface, in place of the environment''s.';
COMMENT ON COLUMN private.provider_orders.providers IS 'The first one is asked first; empty: all with a key, by price.';

CALL private.protect('private.provider_orders');

CREATE FUNCTION private.log_provider_order() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit('provider order set', NEW.organization_id, NEW.platform,
        jsonb_build_object('providers', NEW.providers));
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.provider_orders
    FOR EACH ROW EXECUTE FUNCTION private.log_provider_order();
