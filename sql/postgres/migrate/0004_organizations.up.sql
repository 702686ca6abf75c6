-- Organizations, their users, and the caller's organization, by which every policy decides.
CREATE TABLE public.organizations (
    id         uuid DEFAULT gen_random_uuid() CONSTRAINT organizations_pkey PRIMARY KEY,
    name       text NOT NULL CONSTRAINT organizations_name_form CHECK (private.is_name(name)),
    slug       text NOT NULL CONSTRAINT organizations_slug_key UNIQUE
                             CONSTRAINT organizations_slug_form CHECK (private.is_slug(slug)),
    time_zone  text NOT NULL DEFAULT 'UTC'
                             CONSTRAINT organizations_time_zone_is_known CHECK (timestamptz 'epoch' AT TIME ZONE time_zone IS NOT NULL),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE public.organizations IS 'Owns everything else.';
COMMENT ON COLUMN public.organizations.slug IS 'Its name in addresses; made from the name when missing.';

CREATE TABLE private.users (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT users_pkey PRIMARY KEY,
    email           private.citext NOT NULL CONSTRAINT users_email_key UNIQUE
                    CONSTRAINT users_email_form CHECK (char_length(email::text) <= 320 AND email::text ~ '^[^@[:space:]]+@[^@[:space:]]+$'),
    password_hash   text CONSTRAINT users_password_hash_length CHECK (char_length(password_hash) <= 500),
    is_active       bool NOT NULL DEFAULT true,
    last_sign_in_at timestamptz,
    user_metadata   jsonb NOT NULL DEFAULT '{}' CONSTRAINT users_user_metadata_is_object CHECK (jsonb_typeof(user_metadata) = 'object'),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE private.users IS 'People who sign in, or whose keys do.';
COMMENT ON COLUMN private.users.password_hash IS 'argon2id, as a PHC string; null for a user of another identity provider.';

CREATE TABLE public.members (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT members_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT members_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    user_id         uuid NOT NULL CONSTRAINT members_user_id_key UNIQUE
                                  CONSTRAINT members_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    role            text NOT NULL DEFAULT 'member'
                                  CONSTRAINT members_role_is_known CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX members_organization_id_idx ON public.members (organization_id);
COMMENT ON TABLE public.members IS 'Users with their organization and role. A user has one organization.';

CREATE FUNCTION private.rank(role text) RETURNS int
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT array_position(ARRAY['viewer', 'member', 'admin', 'owner'], role)
$$;

CREATE FUNCTION private.org_id(at_least text DEFAULT 'viewer') RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
    SELECT m.organization_id
    FROM public.members AS m
    JOIN private.users AS u ON u.id = m.user_id
    WHERE m.user_id = private.user_id()
      AND u.is_active
      AND private.rank(m.role) >= private.rank(at_least)
$$;
COMMENT ON FUNCTION private.org_id(text) IS
    'The organization of the caller, if their role there is at_least or above; else null, which no policy lets pass.';

-- Admits members to their organization's rows of a table: to read from one role on, to write from another, null: nobody.
CREATE PROCEDURE private.admit(name regclass, reader text, writer text DEFAULT NULL, rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE')
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('GRANT %s ON %s TO authenticated', CASE WHEN writer IS NULL THEN 'SELECT' ELSE rights END, name);
    EXECUTE format('CREATE POLICY reads ON %s FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, reader);
    IF writer IS NOT NULL THEN
        EXECUTE format('CREATE POLICY inserts ON %s FOR INSERT TO authenticated WITH CHECK (organization_id = (SELECT private.org_id(%L)))', name, writer);
        EXECUTE format('CREATE POLICY updates ON %s FOR UPDATE TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, writer);
        EXECUTE format('CREATE POLICY deletes ON %s FOR DELETE TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, writer);
    END IF;
END
$$;

CREATE FUNCTION private.caller_rank() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
    SELECT private.rank(role) FROM public.members WHERE user_id = private.user_id()
$$;
GRANT EXECUTE ON FUNCTION private.org_id(text), private.caller_rank(), private.rank(text), private.user_id() TO authenticated;

CREATE FUNCTION private.fill_organization_slug() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    base text := private.slug_of(NEW.name, 'organization');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('organizations', 0)); -- two of one name at once get different slugs
    NEW.slug := private.free_slug(base, ARRAY(SELECT o.slug FROM public.organizations AS o WHERE starts_with(o.slug, base)));
    RETURN NEW;
END
$$;

CREATE FUNCTION private.add_organization_tombstone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.tombstones (kind, id, organization_id) VALUES ('organization', OLD.id, OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

-- An organization never loses its last owner. Two owners that leave at once wait for each other.
CREATE FUNCTION private.keep_an_owner() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM FROM public.organizations WHERE id = OLD.organization_id FOR NO KEY UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM public.members WHERE organization_id = OLD.organization_id AND role = 'owner') THEN
        RAISE EXCEPTION 'the last owner of an organization stays: make another member an owner first'
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER fill_slug BEFORE INSERT ON public.organizations
    FOR EACH ROW WHEN (coalesce(NEW.slug, '') = '') EXECUTE FUNCTION private.fill_organization_slug();
CREATE TRIGGER add_tombstone AFTER DELETE ON public.organizations
    FOR EACH ROW EXECUTE FUNCTION private.add_organization_tombstone();
CREATE TRIGGER refuse_deleted AFTER INSERT ON public.organizations
    FOR EACH ROW EXECUTE FUNCTION private.refuse_deleted('organization');
CREATE TRIGGER stamp BEFORE UPDATE ON public.organizations
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.organizations
    FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER stamp BEFORE UPDATE ON private.users
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.members
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.members
    FOR EACH ROW WHEN ((OLD.id, OLD.organization_id, OLD.user_id) IS DISTINCT FROM (NEW.id, NEW.organization_id, NEW.user_id))
    EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER keep_an_owner AFTER UPDATE OF role OR DELETE ON public.members
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION private.keep_an_owner();

-- Only the service adds and deletes organizations, for the command line.
CALL private.protect('public.organizations');
CREATE POLICY reads ON public.organizations FOR SELECT TO authenticated USING (id = (SELECT private.org_id()));
CREATE POLICY updates ON public.organizations FOR UPDATE TO authenticated
    USING (id = (SELECT private.org_id('admin'))) WITH CHECK (id = (SELECT private.org_id('admin')));
GRANT SELECT, UPDATE (name, time_zone) ON public.organizations TO authenticated; -- a taken slug would reveal another organization

CALL private.protect('private.users');

-- An admin writes members, but neither adds nor removes an owner.
CALL private.protect('public.members');
CREATE POLICY reads ON public.members FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id()));
CREATE POLICY inserts ON public.members FOR INSERT TO authenticated
    WITH CHECK (organization_id = (SELECT private.org_id('admin')) AND private.rank(role) <= (SELECT private.caller_rank()));
CREATE POLICY updates ON public.members FOR UPDATE TO authenticated
    USING (organization_id = (SELECT private.org_id('admin')) AND private.rank(role) <= (SELECT private.caller_rank()))
    WITH CHECK (organization_id = (SELECT private.org_id('admin')) AND private.rank(role) <= (SELECT private.caller_rank()));
CREATE POLICY deletes ON public.members FOR DELETE TO authenticated
    USING (organization_id = (SELECT private.org_id('admin')) AND private.rank(role) <= (SELECT private.caller_rank()));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.members TO authenticated;
