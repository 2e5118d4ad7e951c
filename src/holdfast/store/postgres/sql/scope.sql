-- With no COLLATE of its own the comparison takes the column's.
CREATE FUNCTION visible_projects() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT jsonb_array_elements_text(CASE
        WHEN current_setting('holdfast.projects', true) LIKE '[%'
        THEN current_setting('holdfast.projects', true)::jsonb
        ELSE '[]'::jsonb END)
$$;

CREATE FUNCTION is_visible(project text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT current_setting('holdfast.projects', true) = '{all_projects}'
        OR project IN (SELECT {schema}.visible_projects())
$$;

CREATE SEQUENCE row_seq;
CREATE SEQUENCE checkpoints_ids;
CREATE SEQUENCE audit_log_ids;
