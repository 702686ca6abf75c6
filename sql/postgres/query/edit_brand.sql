-- edit_brand: changes the columns whose parameter is not null, and aliases by adding $8 and removing $9; '' is no
-- industry, region or language.
UPDATE public.brands AS b
SET name = coalesce($2::text, b.name),
    slug = coalesce($3::text, b.slug),
    industry = nullif(coalesce($4::text, b.industry), ''),
    region = nullif(coalesce($5::text, b.region), ''),
    language = nullif(coalesce($6::text, b.language), ''),
    is_active = coalesce($7::bool, b.is_active),
    aliases = private.list_edited(b.aliases, $8::text[], $9::text[])
WHERE b.id = $1::uuid
