-- Bounds of what one organization can have and spend, what goes with a deleted brand, and more of the audit log.

-- The operator's budget of an organization beside the owners' own: both hold, so an owner can only lower it. Which of
-- the budgets so far are the operator's is in the audit log.
ALTER TABLE private.budgets ADD COLUMN by_operator bool NOT NULL DEFAULT false;
ALTER TABLE private.budgets DROP CONSTRAINT budgets_pkey, ADD CONSTRAINT budgets_pkey PRIMARY KEY (organization_id, platform, by_operator);
COMMENT ON COLUMN private.budgets.by_operator IS 'Set on the command line: owners cannot change it.';
UPDATE private.budgets AS b
SET by_operator = true
WHERE (SELECT l.actor_id
       FROM public.audit_log AS l
       WHERE l.action = 'budget set' AND l.organization_id = b.organization_id
         AND l.subject = coalesce(nullif(b.platform, ''), 'all platforms')
       ORDER BY l.at DESC
       LIMIT 1) IS NULL;

-- A limit of the rows that clients add: how many an owner, a column, may have, and what an error says. It looks once a
-- statement, since a client adds thousands of rows by one. The operator's commands have no such limit.
CREATE FUNCTION private.limit_added() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    is_over bool;
BEGIN
    EXECUTE format('SELECT EXISTS (
            SELECT FROM (SELECT DISTINCT %2$I AS owner FROM added) AS o
            WHERE (SELECT count(*) FROM (SELECT FROM %1$s AS r WHERE r.%2$I = o.owner LIMIT $1 + 1) AS rows) > $1)',
        TG_RELID::regclass, TG_ARGV[1]) INTO is_over USING TG_ARGV[0]::int;
    IF is_over THEN
        RAISE EXCEPTION USING MESSAGE = TG_ARGV[2], ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER limit_added AFTER INSERT ON public.brands REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(1000, 'organization_id',
        'an organization has at most 1,000 brands: delete one first, or ask the operator');
CREATE TRIGGER limit_added AFTER INSERT ON public.brand_domains REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(5000, 'organization_id',
        'an organization has at most 5,000 domains: delete one first, or ask the operator');
CREATE TRIGGER limit_added AFTER INSERT ON public.competitors REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(10000, 'organization_id',
        'an organization has at most 10,000 competitors: delete one first, or ask the operator');
CREATE TRIGGER limit_added AFTER INSERT ON public.prompts REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(50000, 'organization_id',
        'an organization has at most 50,000 prompts: delete one first, or ask the operator');
CREATE TRIGGER limit_added AFTER INSERT ON public.content_briefs REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(2000, 'organization_id',
        'an organization has at most 2,000 briefs: delete one first, or ask the operator');
CREATE TRIGGER limit_added AFTER INSERT ON public.annotations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_user = 'authenticated') EXECUTE FUNCTION private.limit_added(10000, 'organization_id',
        'an organization has at most 10,000 notes: delete one first, or ask the operator');
CREATE TRIGGER limit_rows BEFORE INSERT ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.limit_rows(50, 'a user has at most 50 keys that work: revoke one first',
        'r.user_id = ($1).user_id AND r.revoked_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > now())');

-- Events of a brand are deleted with it, and their pending deliveries; brand.deleted stays.
CREATE FUNCTION private.delete_events_of_brand() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    DELETE FROM public.events WHERE organization_id = OLD.organization_id AND brand_id = OLD.id AND type <> 'brand.deleted';
    RETURN NULL;
END
$$;
CREATE TRIGGER delete_events AFTER DELETE ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.delete_events_of_brand();
COMMENT ON COLUMN public.events.brand_id IS 'Null: it is about the organization. Of a deleted brand there is brand.deleted alone.';

-- The audit log only grows, so it does not keep what people wrote.
CREATE OR REPLACE FUNCTION private.log_annotation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r public.annotations := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    PERFORM private.log_audit(
        'annotation ' || CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END,
        r.organization_id, r.day::text,
        (SELECT coalesce(jsonb_object_agg(key, CASE WHEN key NOT IN ('text', 'url') THEN jsonb_build_array(before.value, after.value) END), '{}')
         FROM jsonb_each(to_jsonb(OLD)) AS before
         JOIN jsonb_each(to_jsonb(NEW)) AS after USING (key)
         WHERE before.value <> after.value AND key <> 'updated_at'));
    RETURN NULL;
END
$$;

-- An outside address that gets reports is as much a way out as a webhook.
CREATE FUNCTION private.log_subscription() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r public.subscriptions := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF r.address IS NOT NULL THEN
        PERFORM private.log_audit('address ' || CASE TG_OP WHEN 'DELETE' THEN 'removed' ELSE 'subscribed' END, r.organization_id, r.address::text);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR DELETE ON public.subscriptions
    FOR EACH ROW EXECUTE FUNCTION private.log_subscription();

-- Prompts take their results with them. Those of a deleted brand are not logged one by one.
CREATE FUNCTION private.log_deleted_prompts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit('prompts deleted', b.organization_id, d.count || ' of ' || b.slug)
    FROM (SELECT brand_id, count(*) FROM deleted GROUP BY brand_id) AS d
    JOIN public.brands AS b ON b.id = d.brand_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER DELETE ON public.prompts REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION private.log_deleted_prompts();
