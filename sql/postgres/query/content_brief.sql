-- content_brief: title and text of a content brief of an organization.
SELECT title, body
FROM public.content_briefs
WHERE organization_id = $1 AND id = $2
