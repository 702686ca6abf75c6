-- subscription: to whom the subscription $1 is, and of what.
SELECT
    coalesce(s.address::text, u.email::text) AS address,
    concat_ws(' of ', b.name, o.name) AS subject
FROM public.subscriptions AS s
JOIN public.organizations AS o ON o.id = s.organization_id
LEFT JOIN public.brands AS b ON b.id = s.brand_id
LEFT JOIN private.users AS u ON u.id = s.user_id
WHERE s.id = $1
