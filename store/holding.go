package store

import (
	"slices"
	"strings"
)

// Holding is a table of the database, and what it holds of a user. [Store.Export] and
// [Erasures] follow [Holdings]; a test compares them with the tables of each engine.
type Holding struct {
	Table string
	// Exported are the columns in an export; none if the rows are not exported.
	Exported []ColumnInfo
	// Hidden are the columns of an exported table that an export leaves out.
	Hidden []string
	// Why says why rows are not exported, and what an erasure does with them.
	Why string

	// parent is the column that names the row above, for rows that belong to rows of another
	// table; "" for rows that have a user.
	parent string
	// order are the columns by which rows are read in pages. The last one is unique.
	order []string
	below []Holding
}

// Holdings lists every table of both engines, those of River's jobs excepted.
func Holdings() (all []Holding) {
	for _, h := range append(personal(), others()...) {
		all = append(append(all, h), h.below...)
	}
	return all
}

const (
	rowColumns = ` id user_id graph_edges:json metadata:json tags:json created_at:timestamp updated_at:timestamp deleted_at:timestamp`
	inTime     = `created_at id`
)

// personal lists the tables whose rows have a user, with those whose rows belong to such
// rows. An erasure deletes in this order: no row is left whose parent is gone.
func personal() []Holding {
	return []Holding{
		holding("runs", inTime, `id user_id session_id agent_name agent_version agent_hash model status reason protocol client_id message_id in_reply_to author
			last_seq:integer log_bytes:integer open_requests:integer attempts:integer restarts:integer input_tokens:integer
			output_tokens:integer cost_usd:number created_at:timestamp updated_at:timestamp changed_at:timestamp
			rested_at:timestamp ended_at:timestamp`,
			part("run_events", "run_id", "first_seq", `run_id first_seq:integer last_seq:integer data`),
			part("run_journal", "run_id", "seq", `run_id seq:integer thread data:json`),
			part("run_hooks", "run_id", "id", `run_id id user_id created_at:timestamp`).hide("data", "due_at"),
		).hide("idempotency_key", "key_hash", "kept_bytes", "owner", "stop_requested"),
		holding("run_requests", inTime, `id user_id run_id session_id kind agent_path tool_name tool_id arguments:json message
			response_schema:json status content:json comment decided_by decided_via decided_at:timestamp created_at:timestamp
			expires_at:timestamp`),
		holding("sessions", `updated_at id`, `name description agent_name mode client_id total_tokens:integer message_count:integer
			dropped_messages:integer summary_seq:integer summary_tokens:integer chunks:integer memory_seq:integer named:boolean
			archived:boolean`+rowColumns,
			part("messages", "session_id", "seq", `session_id seq:integer message_type content parts:json tool_calls:json status
				token_count:integer input_tokens:integer output_tokens:integer cached_tokens:integer reasoning_tokens:integer cost_usd:number latency_ms:integer model agent_name
				agent_path run_id agent_run_id parent_tool_call_id trace_id span_id client_message_id author cut:boolean`+rowColumns).hide("owner"),
			part("session_branches", "session_id", "first_seq", `session_id first_seq:integer after_seq:integer created_at:timestamp`).hide("owner"),
		).hide("owner"),
		holding("session_shares", inTime, `id owner session_id user_id role created_at:timestamp expires_at:timestamp`).hide("secret_hash"),
		holding("moments", inTime, `name moment_type summary image_uri starts_timestamp:timestamp ends_timestamp:timestamp
			present_persons:json emotion_tags:json topic_tags:json category source_session_id previous_moment_keys:json
			rating:integer first_seq:integer last_seq:integer`+rowColumns),
		holding("feedback", inTime, `session_id message_id rating:integer categories:json comment trace_id span_id`+rowColumns),
		holding("resources", inTime, `name uri ordinal:integer content category image_uri comment related_entities:json rating:integer
			file_id`+rowColumns),
		holding("ontologies", inTime, `name uri content category extracted_data:json file_id agent_schema_id
			confidence_score:number content_hash`+rowColumns),
		holding("files", inTime, `name uri mime_type size_bytes:integer parsed_content parsed_output:json processing_status
			thumbnail_uri content_hash`+rowColumns),
		holding("schemas", `name id`, `name kind version description content json_schema:json source origin content_hash`+rowColumns,
			part("schema_timemachine", "schema_id", "revision", `schema_id revision:integer name operation content json_schema:json
				source checksum user_id recorded_at:timestamp`)),
		holding("experiments", `name id`, `id user_id name status config:json created_at:timestamp updated_at:timestamp last_run_at:timestamp`),
		holding("evaluations", inTime, `id user_id name experiment status plan:json summary:json created_at:timestamp updated_at:timestamp ended_at:timestamp`,
			part("evaluation_results", "evaluation_id", "seq", `evaluation_id seq:integer data:json`)),
		holding("api_keys", inTime, `id user_id email kind name role created_by made_with created_at:timestamp last_used_at:timestamp
			expires_at:timestamp revoked_at:timestamp`).hide("prefix", "hash"),
		holding("accounts", `user_id`, `user_id email role created_by created_at:timestamp password_at:timestamp`).hide("password"),
		holding("users", inTime, `name email content interests:json preferred_topics:json`+rowColumns),
	}
}

// others lists the tables without rows to export.
func others() []Holding {
	const index = "made from the exported rows, and deleted with them"
	return []Holding{
		{Table: "embeddings", Why: index}, {Table: "embedding_queue", Why: index},
		{Table: "kv_store", Why: index}, {Table: "kv_edges", Why: index}, {Table: "kv_edges_waiting", Why: index},
		{Table: "keywords", Why: index}, {Table: "keyword_rows", Why: index}, {Table: "keyword_scopes", Why: index},
		{Table: "quotas", Why: "limits that the operator set; kept, because users may not lift them"}, {Table: "quota_usage", Why: "counts of a minute and a day; removed after the day"},
		{Table: "data_keys", Why: "keys of the encrypted texts of tenants; of no user"},
		{Table: "retentions", Why: "how long tenants keep rows; of no user"},
		{Table: "leases", Why: "which process works for the user; deleted"},
		{Table: "erasures", Why: "that the user's data are deleted; removed a week after the end"},
		{Table: "audit_log", Why: "who did what; kept for P8_AUDIT_KEEP or the retention of the tenant, also of users who are deleted"},
		{Table: "login_tries", Why: "failed logins of nobody who is known; removed by their age"},
		{Table: "processes", Why: "of no user"}, {Table: "reader_key", Why: "of no user"}, {Table: "goose_db_version", Why: "of no user"}, {Table: "migration_hashes", Why: "of no user"},
	}
}

// holding returns a table whose rows have a user.
func holding(name, order, columns string, below ...Holding) Holding {
	return Holding{Table: name, Exported: columnList(columns), order: strings.Fields(order), below: below}
}

// part returns a table whose rows belong to rows of another one.
func part(name, parent, order, columns string) Holding {
	return Holding{Table: name, Exported: columnList(columns), parent: parent, order: strings.Fields(order)}
}

func (h Holding) hide(columns ...string) Holding {
	h.Hidden = columns
	return h
}

// columnList reads "name name:type"; the type is text when none is given.
func columnList(text string) []ColumnInfo {
	list := strings.Fields(text)
	for i := range list {
		list[i] = strings.Replace(list[i], ":", " ", 1)
	}
	return columnInfos(list...)
}

// has reports whether an export has a column.
func (h *Holding) has(column string) bool {
	return slices.ContainsFunc(h.Exported, func(c ColumnInfo) bool { return c.Name == column })
}

// args are the parameters of owner.
func (h *Holding) args(by caller) []any {
	if h.parent != "" && h.Table != messages.Name && h.Table != "session_branches" {
		return []any{by.TenantID}
	}
	return []any{by.TenantID, by.UserID}
}

// owner returns the condition of the rows of $1 (tenant) and $2 (user).
func (h *Holding) owner(d Dialect) string {
	switch h.Table {
	case sessions.Name, messages.Name:
		// On PostgreSQL the indexes of the keys have the owner as an expression, those in the
		// order of time have the user.
		if d == DialectSQLite || h.Table == messages.Name {
			return `tenant_id = $1 AND ` + d.ownerOf(``) + ` = $2`
		}
	case "session_branches":
		return `tenant_id = $1 AND owner = $2`
	case "session_shares": // those of the user's sessions, and those that let the user in
		return `tenant_id = $1 AND (owner = $2 OR user_id = $2)`
	case users.Name:
		return `tenant_id = $1 AND id = $2`
	}
	if h.parent != "" {
		return `tenant_id = $1`
	}
	return `tenant_id = $1 AND user_id = $2`
}
