-- Every word begins with a mark of its project: the index then has each project's words by
-- themselves, and a search takes no longer for what is in others.
CREATE FUNCTION project_prefix(project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(project), 8) || '_'
$$;

CREATE FUNCTION scoped_query(project text, words_wanted text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(words_wanted, '''_', '''' || left(md5(project), 8) || '_')::tsquery
$$;

-- Those visible: the one that is named, the session's, or all. From one to the next by the index:
-- DISTINCT would read every session.
CREATE FUNCTION searched_projects(in_project text, in_session text)
    RETURNS SETOF text LANGUAGE sql STABLE SET search_path = {schema}, pg_temp AS $$
    SELECT in_project WHERE in_project <> '' AND is_visible(in_project)
    UNION ALL
    SELECT s.project FROM sessions s WHERE in_project = '' AND in_session <> ''
        AND s.id = in_session AND is_visible(s.project)
    UNION ALL
    SELECT v FROM visible_projects() v WHERE in_project = '' AND in_session = ''
    UNION ALL
    (WITH RECURSIVE each_one AS (
        (SELECT s.project FROM sessions s WHERE in_project = '' AND in_session = ''
            AND current_setting('holdfast.projects', true) = '{all_projects}'
            ORDER BY s.project LIMIT 1)
        UNION ALL
        SELECT (SELECT s.project FROM sessions s WHERE s.project > each_one.project
            ORDER BY s.project LIMIT 1) FROM each_one WHERE each_one.project IS NOT NULL
    ) SELECT project FROM each_one WHERE project IS NOT NULL)
$$;

-- A session that finds its project takes its words along.
CREATE FUNCTION rewrite_prefixes() RETURNS trigger LANGUAGE plpgsql
    SET search_path = {schema}, pg_temp AS $$ BEGIN
    NEW.words := replace(NEW.words::text, '''' || project_prefix(OLD.project),
        '''' || project_prefix(NEW.project))::tsvector;
    RETURN NEW;
END $$;
