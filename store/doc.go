// Package store is p8's database: sessions and their messages, the runs that made
// them, agent documents and their history, knowledge (resources, ontologies, moments,
// files), feedback, users, and the index of keys that LOOKUP, FUZZY and TRAVERSE read.
//
// A [Store] is opened by an engine's package (p8/store/sqlite):
//
//	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
//
// Every method takes the caller from the context (package identity) and fails with
// identity.ErrMissing if the context has no caller. A caller reads:
//
//   - sessions and messages: its own; those without a user are the anonymous callers'.
//     A guest reads one session of another user ([Store.OpenShare]).
//   - schemas, resources, ontologies and files: its own, then the shared ones of its
//     tenant (user_id NULL), then those of [identity.SystemTenant], p8's own, which no
//     other tenant can write. The pages of p8's manual are read by [InManual] only.
//   - moments and feedback: its own; those without a user are the anonymous
//     callers'.
//   - users: itself.
//   - runs and their requests: its own; those without a user are the anonymous
//     callers'.
//
// A [Run] is a turn that outlives its process. [Store.BeginRun] stores its beginning and
// [Store.WriteRun] each later change (events in pieces, the journal, requests, messages,
// the end), each in one transaction. One process owns a run at a time. A run that waits,
// or whose process has died, goes to the first process that calls [Store.ClaimRun].
//
// A [Repository] reads and writes one table of knowledge, [Store.PutDocuments] whole
// documents. [Users], [Leases], [Diary], [APIKeys] and [Accounts] are families of methods of
// their own. Two work without a caller: [Maintenance] for jobs and the command line, [Access]
// for authentication. Changes that an operator must be able to trace are in the audit log
// ([Store.AuditLog]), written in their transaction.
//
// Every statement for a caller names its tenant, and an engine gets the caller's [Scope] with
// each transaction: PostgreSQL enforces it a second time, and tests check each statement's
// text on both engines. Statements without a caller have methods of their own (ReadSystem,
// WriteSystem).
//
// The SQL is written once here, with $1…$n, over the few methods of an [Engine]. Go
// writes everything that must agree (a row, its key, its words, the task to embed it,
// its history, a session's totals) in one transaction, without triggers or sequences.
// The fields of a type describe the columns of its table; the table's statements are
// derived from them. tenant_id begins every key, so the schema can be partitioned by
// tenant.
//
// [ErrNotFound], [ErrConflict], [ErrForbidden] and [ErrInvalid] have texts that are fit
// for a client. Every other error is a [Failure]: its text says that storage failed, its
// cause is for the log.
package store
