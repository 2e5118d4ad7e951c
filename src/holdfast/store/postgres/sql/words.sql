-- The words of one table of texts, which go where it goes: how they are kept and found. Both
-- functions work on the words with their owner's rights, and only for visible projects.
CREATE INDEX search_{texts}_by_seq ON search_{texts} (seq);
CREATE INDEX search_{texts}_by_words ON search_{texts} USING gin (words);

-- Words come with a placeholder for the prefix of their project
-- (`full_text_search.PROJECT_PLACEHOLDER`). Whoever writes holds the session's lock.
CREATE FUNCTION index_{texts}(of_project text, at_seq bigint,
    of_session text, of_kind text, said text, is_new boolean) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = {schema}, pg_temp
    SET plan_cache_mode = force_generic_plan AS $$ BEGIN
    IF NOT is_visible(of_project) THEN
        RETURN;
    END IF;
    IF NOT is_new THEN
        DELETE FROM search_{texts} w WHERE w.project = of_project AND w.seq = at_seq;
    END IF;
    INSERT INTO search_{texts} (project, seq, session, {column} words)
    VALUES (of_project, at_seq, of_session, {value}
        replace(said, '''_', '''' || project_prefix(of_project))::tsvector);
END $$;

CREATE TRIGGER search_in_another_project BEFORE UPDATE OF project ON search_{texts}
    FOR EACH ROW WHEN (OLD.project <> NEW.project) EXECUTE FUNCTION rewrite_prefixes();

-- The latest texts with these words, ranked: in each project by itself, so that neither what is in
-- others nor how much of it is there makes a difference. Plans are made once per connection, not
-- for every search: to plan over all partitions took eight times as long as to search. A plan that
-- is made before there is much to search must suit what comes later: by the index on words, and
-- then by seq.
CREATE FUNCTION find_{texts}(words_wanted text, in_project text, in_session text,
    of_kind text, weights real[], by_length int, most int)
    RETURNS TABLE (project text, seq bigint, score real) LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path = {schema}, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_indexscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    AS $$ BEGIN RETURN QUERY
    SELECT w.project, w.seq,
        ts_rank(weights, w.words, scoped_query(w.project, words_wanted), by_length)
    FROM (
        SELECT h.project, h.seq FROM searched_projects(in_project, in_session) AS p(name)
        CROSS JOIN LATERAL (
            SELECT f.project, f.seq FROM search_{texts} f
            WHERE f.project = p.name AND f.words @@ scoped_query(p.name, words_wanted)
                AND (in_session = '' OR f.session = in_session) AND {condition}
            ORDER BY f.seq DESC LIMIT most
        ) AS h ORDER BY h.seq DESC LIMIT most
    ) AS l JOIN search_{texts} w ON w.project = l.project AND w.seq = l.seq;
END $$;

REVOKE ALL ON FUNCTION index_{texts} FROM PUBLIC;
REVOKE ALL ON FUNCTION find_{texts} FROM PUBLIC;
