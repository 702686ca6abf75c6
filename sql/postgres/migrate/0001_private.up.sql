-- Clients have no right to schema private. Policies and checks may still call its functions, which takes the right to
-- execute them, not the right to the schema.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public;
CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA private;

-- Protects a table: nobody reads or writes a row without a policy, its owner included. Our processes have one, with some
-- rights.
CREATE PROCEDURE private.protect(name regclass, rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE')
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY service ON %s TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true)', name);
    EXECUTE format('GRANT %s ON %s TO answerscope_service', rights, name);
END
$$;

-- The caller. Unset claims read as '', and another issuer's sub may be no uuid.
CREATE FUNCTION private.user_id() RETURNS uuid
LANGUAGE sql STABLE SET search_path = '' AS $$
    SELECT CASE WHEN sub ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN sub::uuid END
    FROM (SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub' AS sub) AS claims
$$;
COMMENT ON FUNCTION private.user_id() IS 'The user of this transaction, by its claims.';

-- Before every update: created_at stays, updated_at is now. A client's new row gets both from the clock, because the
-- schedule and lists read these times.
CREATE FUNCTION private.stamp() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.created_at := OLD.created_at;
        NEW.updated_at := now();
    ELSIF current_user = 'authenticated' THEN
        NEW.created_at := now();
        NEW.updated_at := now();
    END IF;
    RETURN NEW;
END
$$;

-- Tables call this when a row's id, organization or brand would change: records and the warehouse name a row by them.
-- The code is the one of a policy, so that a client cannot learn which ids exist.
CREATE FUNCTION private.refuse_move() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    RAISE EXCEPTION 'a row of % keeps its id and its owner', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
END
$$;

-- Anchors the rows of a table: they keep their id and owner, which the function fill finds, and their times are now.
CREATE PROCEDURE private.anchor(name regclass, fill text DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
    IF fill IS NOT NULL THEN
        EXECUTE format('CREATE TRIGGER fill BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION private.%I()', name, fill);
        EXECUTE format('COMMENT ON COLUMN %s.organization_id IS %L', name, 'The brand''s; filled.');
    END IF;
    EXECUTE format('CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION private.stamp()', name);
    EXECUTE format('CREATE TRIGGER stay BEFORE UPDATE ON %s FOR EACH ROW
        WHEN ((OLD.id, OLD.organization_id, OLD.brand_id) IS DISTINCT FROM (NEW.id, NEW.organization_id, NEW.brand_id))
        EXECUTE FUNCTION private.refuse_move()', name);
END
$$;

-- Follows a table: after each statement on it a function gets the rows, changed, as they are now or were when deleted.
CREATE PROCEDURE private.follow(name regclass, trigger text, function text)
LANGUAGE plpgsql AS $$
DECLARE
    change text;
BEGIN
    FOREACH change IN ARRAY ARRAY['insert', 'update', 'delete'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER %s ON %s REFERENCING %s TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.%I()',
            trigger || '_' || change, change, name, CASE change WHEN 'delete' THEN 'OLD' ELSE 'NEW' END, function);
    END LOOP;
END
$$;

CREATE FUNCTION private.slug_of(name text, kind text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = '' AS $$
DECLARE
    slug text := lower(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f''’]', '', 'g'));
BEGIN
    slug := translate(slug, 'ØøŁłĐđÐðŦŧı', 'oollddddtti');
    slug := replace(replace(replace(replace(slug, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    slug := trim(BOTH '-' FROM left(trim(BOTH '-' FROM regexp_replace(slug, '[^a-z0-9]+', '-', 'g')), 60));
    RETURN coalesce(nullif(slug, ''), kind || '-' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 8));
END
$$;
COMMENT ON FUNCTION private.slug_of(text, text) IS
    'A name in ASCII letters, digits and hyphens; a name that has none of them, such as 日本語, becomes its kind and a digest.';

CREATE FUNCTION private.free_slug(slug text, taken text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT candidate
    FROM (SELECT CASE n WHEN 1 THEN slug ELSE slug || '-' || n END AS candidate, n
          FROM generate_series(1, cardinality(taken) + 1) AS n) AS candidates
    WHERE candidate <> ALL (taken)
    ORDER BY n
    LIMIT 1
$$;
COMMENT ON FUNCTION private.free_slug(text, text[]) IS 'The slug itself, or the first of slug-2, slug-3, … that is not taken.';

CREATE FUNCTION private.is_slug(slug text) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT char_length(slug) BETWEEN 1 AND 100 AND slug !~ '[[:space:][:cntrl:]/?#%]'
$$;
COMMENT ON FUNCTION private.is_slug(text) IS 'Whether it can stand in a path and on a command line.';

CREATE FUNCTION private.punycode(label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = '' AS $$
DECLARE
    points  int[] := ARRAY(SELECT ascii(c) FROM regexp_split_to_table(label, '') WITH ORDINALITY AS u (c, n) ORDER BY n);
    encoded text := regexp_replace(label, '[^\x01-\x7f]', '', 'g');
    basic   int := char_length(encoded);
    done    int := basic;
    least   int := 128;
    delta   int := 0;
    bias    int := 72;
    next    int;
    point   int;
    q       int;
    k       int;
    digit   int;
    digits  CONSTANT text := 'abcdefghijklmnopqrstuvwxyz0123456789';
BEGIN
    IF basic > 0 THEN
        encoded := encoded || '-';
    END IF;
    WHILE done < cardinality(points) LOOP
        next := (SELECT min(p) FROM unnest(points) AS p WHERE p >= least);
        delta := delta + (next - least) * (done + 1);
        least := next;
        FOREACH point IN ARRAY points LOOP
            IF point < least THEN
                delta := delta + 1;
            ELSIF point = least THEN
                q := delta;
                k := 36;
                LOOP
                    digit := greatest(1, least(26, k - bias));
                    EXIT WHEN q < digit;
                    encoded := encoded || substr(digits, 1 + digit + (q - digit) % (36 - digit), 1);
                    q := (q - digit) / (36 - digit);
                    k := k + 36;
                END LOOP;
                encoded := encoded || substr(digits, 1 + q, 1);
                delta := CASE done WHEN basic THEN delta / 700 ELSE delta / 2 END;
                delta := delta + delta / (done + 1);
                k := 0;
                WHILE delta > 455 LOOP
                    delta := delta / 35;
                    k := k + 36;
                END LOOP;
                bias := k + 36 * delta / (delta + 38);
                delta := 0;
                done := done + 1;
            END IF;
        END LOOP;
        delta := delta + 1;
        least := least + 1;
    END LOOP;
    RETURN 'xn--' || encoded;
END
$$;
COMMENT ON FUNCTION private.punycode(text) IS 'A label of a host name that is not ASCII, encoded as RFC 3492 has it.';

CREATE FUNCTION private.domain_of(address text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = '' AS $$
DECLARE
    host text := btrim(address, E' \t\r\n');
BEGIN
    host := regexp_replace(host, '^([A-Za-z][A-Za-z0-9+.-]*:)?//', '');
    host := regexp_replace(host, '[/?#\\].*$', '');
    host := regexp_replace(host, '^.*@', '');
    host := regexp_replace(host, ':[0-9]*$', '');
    IF host ~ '[^\x01-\x7f]' AND char_length(host) <= 253 THEN
        host := (SELECT string_agg(CASE WHEN label ~ '[^\x01-\x7f]' THEN private.punycode(label) ELSE label END, '.' ORDER BY n)
                 FROM regexp_split_to_table(normalize(lower(normalize(host, NFKC)), NFC), '[.。]') WITH ORDINALITY AS u (label, n));
    END IF;
    host := regexp_replace(lower(host), '\.$', '');
    host := regexp_replace(host, '^www\.(?=.*\.)', '');
    IF NOT coalesce(private.are_hosts(ARRAY[host]), false) THEN
        RAISE EXCEPTION 'domain "%": want a host such as example.com', left(address, 300) USING ERRCODE = 'check_violation';
    END IF;
    RETURN host;
END
$$;
COMMENT ON FUNCTION private.domain_of(text) IS
    'The host of an address as domains are kept: lower case, punycode, without scheme, user, port, path, www. and a trailing dot.';

CREATE FUNCTION private.domains_of(addresses text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT coalesce(array_agg(domain ORDER BY place), '{}')
    FROM (SELECT private.domain_of(address) AS domain, min(ordinality) AS place
          FROM unnest(addresses) WITH ORDINALITY AS u (address, ordinality)
          WHERE btrim(address) <> ''
          GROUP BY 1) AS domains
$$;
COMMENT ON FUNCTION private.domains_of(text[]) IS 'The domains of addresses, each once, in their order; blanks are left out.';

CREATE FUNCTION private.are_hosts(hosts text[]) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT cardinality(hosts) <= 100
       AND coalesce(bool_and(char_length(host) <= 253 AND host ~ '^(localhost|([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)$'), true)
    FROM unnest(hosts) AS host
$$;
COMMENT ON FUNCTION private.are_hosts(text[]) IS 'Whether each is a host name with a dot, or localhost; in lower case, an international one in punycode.';

CREATE FUNCTION private.is_name(name text) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT octet_length(name) <= 512 AND btrim(name) <> '' AND name !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
$$;
COMMENT ON FUNCTION private.is_name(text) IS
    'Whether it is a text of at most 512 bytes, not blank, without controls and what turns the direction of text, as event.HasControls has them.';

CREATE FUNCTION private.are_words(words text[]) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT cardinality(words) <= 100
       AND coalesce(bool_and(coalesce(btrim(word) <> '' AND octet_length(word) <= 512
                                      AND word !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]', false)), true)
    FROM unnest(words) AS word
$$;
COMMENT ON FUNCTION private.are_words(text[]) IS 'Whether each is a name as private.is_name has it.';

CREATE FUNCTION private.list_edited(list text[], added text[], removed text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = '' AS $$
    SELECT coalesce(array_agg(item ORDER BY place), '{}')
    FROM (SELECT item, min(ordinality) AS place
          FROM unnest(list || added) WITH ORDINALITY AS u (item, ordinality)
          WHERE item <> ALL (removed)
          GROUP BY item) AS items
$$;
COMMENT ON FUNCTION private.list_edited(text[], text[], text[]) IS 'A list with what is added at its end, each once, and without what is removed.';

-- A check runs with the rights of the client that writes, so the functions that checks call use nothing of this schema.
GRANT EXECUTE ON FUNCTION private.is_slug(text), private.is_name(text), private.are_hosts(text[]), private.are_words(text[])
    TO answerscope_service, authenticated;
GRANT EXECUTE ON FUNCTION private.domains_of(text[]), private.domain_of(text), private.punycode(text),
    private.list_edited(text[], text[], text[]) TO answerscope_service; -- queries of the command line
