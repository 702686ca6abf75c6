-- remove_organization: deletes the organization $1 with everything that belongs to it, and its users, who are in no other.
WITH gone AS (
    DELETE FROM public.organizations
    WHERE id = $1::uuid
    RETURNING id
), people AS (
    DELETE FROM private.users
    WHERE id IN (SELECT user_id FROM public.members WHERE organization_id = $1::uuid)
)
SELECT id
FROM gone
