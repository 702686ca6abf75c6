-- content_brief: the text of a content brief of an organization, and its title in addresses.
SELECT
    private.slug_of(title, 'brief') AS slug,
    body
FROM public.content_briefs
WHERE organization_id = $1 AND id = $2
