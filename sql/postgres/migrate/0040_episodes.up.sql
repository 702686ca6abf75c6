-- Episodes: from a change until it is over, so that it is told once. A day of a brand is judged once, in one
-- transaction with the episodes and the event that it makes.
CREATE TABLE private.judged_days (
    brand_id        uuid CONSTRAINT judged_days_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    day             date,
    organization_id uuid NOT NULL CONSTRAINT judged_days_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    verdicts        jsonb NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT judged_days_pkey PRIMARY KEY (brand_id, day)
);
CREATE INDEX judged_days_organization_id_idx ON private.judged_days (organization_id);
COMMENT ON TABLE private.judged_days IS 'UTC days of brands that were judged, for 90 days.';
COMMENT ON COLUMN private.judged_days.verdicts IS 'By platform; the empty one is of all answers.';

CREATE TABLE private.episodes (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT episodes_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT episodes_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id        uuid CONSTRAINT episodes_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    kind            text NOT NULL CONSTRAINT episodes_kind_is_known CHECK (kind IN ('visibility', 'platform')),
    scope           text NOT NULL CONSTRAINT episodes_scope_length CHECK (octet_length(scope) <= 200),
    direction       text CONSTRAINT episodes_direction_is_known CHECK (direction IN ('moved_up', 'moved_down')),
    reference       jsonb NOT NULL DEFAULT '{}',
    opened_at       timestamptz NOT NULL DEFAULT now(),
    closed_at       timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX episodes_open_key ON private.episodes (organization_id, brand_id, kind, scope) NULLS NOT DISTINCT WHERE closed_at IS NULL;
CREATE INDEX episodes_organization_id_idx ON private.episodes (organization_id);
CREATE INDEX episodes_brand_id_idx ON private.episodes (brand_id, kind, scope);
COMMENT ON TABLE private.episodes IS 'Moves of visibility and outages of platforms, from their first news until they are over.';
COMMENT ON COLUMN private.episodes.brand_id IS 'Null: a platform''s outage, which is the organization''s.';
COMMENT ON COLUMN private.episodes.scope IS 'A platform; empty: all answers of the brand.';
COMMENT ON COLUMN private.episodes.direction IS 'Of a move; null: an outage.';
COMMENT ON COLUMN private.episodes.reference IS 'Of a move: its days, and by how many points it differs from the days before.';

CALL private.protect('private.judged_days', 'SELECT, INSERT, DELETE');

CALL private.protect('private.episodes', 'SELECT, INSERT, UPDATE');

-- A platform is degraded when a job gave up over 20 % of five runs or more, until one does not.
CREATE FUNCTION private.judge_platforms() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    p     record;
    since timestamptz;
    event text;
BEGIN
    FOR p IN
        SELECT
            platform,
            sum(count) AS runs,
            coalesce(sum(count) FILTER (WHERE class IS NOT NULL), 0) AS gave_up,
            coalesce(jsonb_object_agg(class, count) FILTER (WHERE class IS NOT NULL), '{}') AS classes
        FROM (
            SELECT platform, CASE state WHEN 'gave_up' THEN coalesce(error_class, 'unknown') END AS class, count(*)
            FROM public.tracking_runs
            WHERE job_id = NEW.id
              AND state IN ('done', 'gave_up')
            GROUP BY 1, 2
        ) AS runs
        GROUP BY platform
        HAVING sum(count) >= 5
        ORDER BY platform
    LOOP
        IF p.gave_up * 5 > p.runs THEN
            event := 'platform.degraded';
            INSERT INTO private.episodes (organization_id, kind, scope)
            VALUES (NEW.organization_id, 'platform', p.platform)
            ON CONFLICT DO NOTHING
            RETURNING opened_at INTO since;
        ELSE
            event := 'platform.recovered';
            UPDATE private.episodes
            SET closed_at = now()
            WHERE organization_id = NEW.organization_id
              AND brand_id IS NULL
              AND kind = 'platform'
              AND scope = p.platform
              AND closed_at IS NULL
            RETURNING opened_at INTO since;
        END IF;
        IF FOUND THEN
            PERFORM private.emit(NEW.organization_id, NULL, event, jsonb_build_object(
                'platform', p.platform, 'job_id', NEW.id, 'runs', p.runs, 'gave_up', p.classes, 'since', since,
                'brands', (SELECT jsonb_agg(private.brand_of(b.id) ORDER BY b.name)
                           FROM public.brands AS b
                           WHERE b.organization_id = NEW.organization_id
                             AND (b.id = NEW.brand_id OR b.is_active AND EXISTS (
                                      SELECT FROM public.brand_platforms AS bp
                                      WHERE bp.brand_id = b.id AND bp.platform = p.platform AND bp.is_enabled)))));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER judge_platforms AFTER UPDATE OF phase ON public.tracking_jobs
    FOR EACH ROW WHEN (NEW.phase = 'done' AND OLD.phase <> 'done') EXECUTE FUNCTION private.judge_platforms();
