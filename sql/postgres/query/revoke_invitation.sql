-- revoke_invitation: revokes the open invitation $2 of the organization $1.
UPDATE public.invitations
SET revoked_at = now()
WHERE organization_id = $1
  AND id = $2
  AND accepted_at IS NULL
  AND revoked_at IS NULL
