-- Budgets of organizations for tracking, and their spending.
CREATE TABLE private.budgets (
    organization_id uuid CONSTRAINT budgets_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform        text CONSTRAINT budgets_platform_length CHECK (octet_length(platform) <= 200),
    runs_per_day    bigint CONSTRAINT budgets_runs_per_day_is_positive CHECK (runs_per_day >= 0),
    runs_per_month  bigint CONSTRAINT budgets_runs_per_month_is_positive CHECK (runs_per_month >= 0),
    cost_per_day    numeric CONSTRAINT budgets_cost_per_day_is_positive CHECK (cost_per_day >= 0),
    cost_per_month  numeric CONSTRAINT budgets_cost_per_month_is_positive CHECK (cost_per_month >= 0),
    CONSTRAINT budgets_pkey PRIMARY KEY (organization_id, platform)
);
COMMENT ON TABLE private.budgets IS 'Limits of an organization''s spending on tracking, by day and month in UTC.';
COMMENT ON COLUMN private.budgets.platform IS 'Empty: all platforms together.';
COMMENT ON COLUMN private.budgets.cost_per_day IS 'In US dollars.';

CREATE TABLE private.spending (
    organization_id uuid CONSTRAINT spending_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform        text CONSTRAINT spending_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    day             date,
    runs            bigint NOT NULL,
    cost            numeric NOT NULL,
    CONSTRAINT spending_pkey PRIMARY KEY (organization_id, platform, day)
);
COMMENT ON TABLE private.spending IS 'Runs and cost by the day, in UTC, on which their job was started.';
COMMENT ON COLUMN private.spending.cost IS 'In US dollars: the estimate of a run until it has ended, then its cost, or the estimate where the platform reports no usage.';

CALL private.protect('private.budgets');

CALL private.protect('private.spending');

CREATE FUNCTION private.log_budget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit('budget set', NEW.organization_id, coalesce(nullif(NEW.platform, ''), 'all platforms'),
        to_jsonb(NEW) - 'organization_id' - 'platform');
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.budgets
    FOR EACH ROW EXECUTE FUNCTION private.log_budget();
