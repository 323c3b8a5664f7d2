-- +goose Up
-- The SELECTs of callers run as the role p8_reader, which gets its rights when a
-- process starts (see reader.go). Row-level security shows that role the rows of
-- one caller: the one that the setting p8.caller names. Anybody could write that
-- setting, so it is signed with a secret that only the tables' owner can read.
CREATE TABLE reader_key (
	id     BIGINT PRIMARY KEY CHECK (id = 1),
	secret BYTEA  NOT NULL
);
REVOKE ALL ON reader_key FROM PUBLIC;
INSERT INTO reader_key (id, secret)
	SELECT 1, sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8')) FROM generate_series(1, 4);

-- The one stored function: no caller's role may read the secret, and no policy
-- can check a signature without it. It gives NULLs for a setting that is
-- missing, forged or out of date: then nothing is visible.
-- +goose StatementBegin
CREATE FUNCTION p8_caller(OUT tenant TEXT, OUT usr TEXT) LANGUAGE sql STABLE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT claims->>0, claims->>1
	FROM (
		SELECT CASE WHEN left(token, 64) = encode(sha256(secret || sha256(secret || convert_to(substr(token, 65), 'UTF8'))), 'hex')
			THEN substr(token, 65)::jsonb END AS claims
		FROM (SELECT current_setting('p8.caller', true) AS token) AS setting, reader_key
	) AS checked
	WHERE (claims->>2)::double precision > extract(epoch FROM statement_timestamp());
END;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION p8_caller() FROM PUBLIC;

-- The owner of the tables, which the store is, is not concerned.
ALTER TABLE schemas ENABLE ROW LEVEL SECURITY;
ALTER TABLE resources ENABLE ROW LEVEL SECURITY;
ALTER TABLE ontologies ENABLE ROW LEVEL SECURITY;
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE moments ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE feedback ENABLE ROW LEVEL SECURITY;

-- Own rows, the tenant's shared ones, and the system's. The tenants are one list,
-- so that a plan can look for them, and for an id beside them, in an index.
CREATE POLICY caller ON schemas FOR SELECT USING (deleted_at IS NULL
	AND tenant_id = ANY ((SELECT CASE WHEN tenant IS NOT NULL THEN ARRAY[tenant, '_'] END FROM p8_caller())::text[])
	AND (user_id IS NULL OR user_id = (SELECT usr FROM p8_caller()) AND tenant_id = (SELECT tenant FROM p8_caller())));
CREATE POLICY caller ON resources FOR SELECT USING (deleted_at IS NULL
	AND tenant_id = ANY ((SELECT CASE WHEN tenant IS NOT NULL THEN ARRAY[tenant, '_'] END FROM p8_caller())::text[])
	AND (user_id IS NULL OR user_id = (SELECT usr FROM p8_caller()) AND tenant_id = (SELECT tenant FROM p8_caller())));
CREATE POLICY caller ON ontologies FOR SELECT USING (deleted_at IS NULL
	AND tenant_id = ANY ((SELECT CASE WHEN tenant IS NOT NULL THEN ARRAY[tenant, '_'] END FROM p8_caller())::text[])
	AND (user_id IS NULL OR user_id = (SELECT usr FROM p8_caller()) AND tenant_id = (SELECT tenant FROM p8_caller())));
CREATE POLICY caller ON files FOR SELECT USING (deleted_at IS NULL
	AND tenant_id = ANY ((SELECT CASE WHEN tenant IS NOT NULL THEN ARRAY[tenant, '_'] END FROM p8_caller())::text[])
	AND (user_id IS NULL OR user_id = (SELECT usr FROM p8_caller()) AND tenant_id = (SELECT tenant FROM p8_caller())));

-- Own rows only; those without a user are an anonymous caller's.
CREATE POLICY caller ON moments FOR SELECT USING (deleted_at IS NULL AND tenant_id = (SELECT tenant FROM p8_caller())
	AND (user_id = (SELECT usr FROM p8_caller()) OR user_id IS NULL AND (SELECT usr FROM p8_caller()) IS NULL));
CREATE POLICY caller ON sessions FOR SELECT USING (deleted_at IS NULL AND tenant_id = (SELECT tenant FROM p8_caller())
	AND (user_id = (SELECT usr FROM p8_caller()) OR user_id IS NULL AND (SELECT usr FROM p8_caller()) IS NULL));
CREATE POLICY caller ON messages FOR SELECT USING (deleted_at IS NULL AND tenant_id = (SELECT tenant FROM p8_caller())
	AND (user_id = (SELECT usr FROM p8_caller()) OR user_id IS NULL AND (SELECT usr FROM p8_caller()) IS NULL));
CREATE POLICY caller ON feedback FOR SELECT USING (deleted_at IS NULL AND tenant_id = (SELECT tenant FROM p8_caller())
	AND (user_id = (SELECT usr FROM p8_caller()) OR user_id IS NULL AND (SELECT usr FROM p8_caller()) IS NULL));
CREATE POLICY caller ON users FOR SELECT USING (deleted_at IS NULL AND tenant_id = (SELECT tenant FROM p8_caller())
	AND user_id = (SELECT usr FROM p8_caller()));

-- Nothing of these is for callers, whatever is granted later.
ALTER TABLE reader_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE kv_store ENABLE ROW LEVEL SECURITY;
ALTER TABLE keywords ENABLE ROW LEVEL SECURITY;
ALTER TABLE embeddings ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedding_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE schema_timemachine ENABLE ROW LEVEL SECURITY;
