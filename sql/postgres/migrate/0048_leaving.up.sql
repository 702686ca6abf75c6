-- A user leaves their organization by themselves, whatever their role; the last owner stays.
DROP POLICY deletes ON public.members;
CREATE POLICY deletes ON public.members FOR DELETE TO authenticated
    USING (
        organization_id = (SELECT private.org_id()) AND user_id = (SELECT private.user_id())
        OR organization_id = (SELECT private.org_id('admin')) AND private.rank(role) <= (SELECT private.caller_rank()));
