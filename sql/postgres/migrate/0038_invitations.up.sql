-- Invitations to an organization. The link of one is in private.one_time_links; who follows it becomes a member.
CREATE TABLE public.invitations (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT invitations_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT invitations_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    email           private.citext NOT NULL CONSTRAINT invitations_email_form
                    CHECK (octet_length(email::text) <= 320 AND email::text ~ '^[^@[:space:]]+@[^@[:space:]]+$'),
    role            text NOT NULL CONSTRAINT invitations_role_is_known CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    invited_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL DEFAULT now() + INTERVAL '7 days',
    accepted_at     timestamptz,
    revoked_at      timestamptz
);
CREATE INDEX invitations_organization_id_idx ON public.invitations (organization_id, created_at DESC);
COMMENT ON TABLE public.invitations IS 'Who was invited to an organization. Made by /api/invitations: the link is shown once.';
COMMENT ON COLUMN public.invitations.invited_by IS 'A user, without whose membership and rank it does not work; null: the command line.';

CALL private.protect('public.invitations');
CALL private.admit('public.invitations', 'admin');

CREATE FUNCTION private.rank_of_inviter(i public.invitations) RETURNS int
LANGUAGE sql STABLE SET search_path = '' AS $$
    SELECT CASE
        WHEN i.invited_by IS NULL THEN private.rank('owner')
        ELSE (
            SELECT private.rank(m.role)
            FROM public.members AS m
            JOIN private.users AS u ON u.id = m.user_id
            WHERE m.user_id = i.invited_by AND m.organization_id = i.organization_id AND u.is_active)
    END
$$;
COMMENT ON FUNCTION private.rank_of_inviter(public.invitations) IS 'The rank of the inviter now; null: they are no member any more.';
GRANT EXECUTE ON FUNCTION private.rank_of_inviter(public.invitations), private.rank(text) TO answerscope_service;

CREATE FUNCTION private.log_invitation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit(
        'invitation ' || CASE WHEN TG_OP = 'INSERT' THEN 'added' WHEN NEW.revoked_at IS NULL THEN 'accepted' ELSE 'revoked' END,
        NEW.organization_id, NEW.email::text || ' as ' || NEW.role);
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE OF accepted_at, revoked_at ON public.invitations
    FOR EACH ROW EXECUTE FUNCTION private.log_invitation();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.invitations
    FOR EACH ROW EXECUTE FUNCTION private.limit_rows(50, 'an organization has at most 50 open invitations: revoke one first',
        'r.organization_id = ($1).organization_id AND r.email OPERATOR(private.<>) ($1).email
         AND r.accepted_at IS NULL AND r.revoked_at IS NULL AND r.expires_at > now()');
