// Package store keeps what p8 must not forget: sessions and their messages, the
// runs that made them, agent documents and their history, knowledge (resources,
// ontologies, moments, files), feedback, users, and the index of keys that LOOKUP,
// FUZZY and TRAVERSE read.
//
// A [Store] is opened by an engine's package (p8/store/sqlite):
//
//	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
//
// Every method takes the caller from the context (package identity) and fails
// with identity.ErrMissing when there is none: a query without a tenant and a
// user cannot be written. What a caller sees:
//
//   - sessions and messages: its own. A session without a user is read by who
//     knows its id, listed to anonymous callers only and written by them only.
//   - schemas, resources, ontologies and files: its own, then the shared ones of
//     its tenant (user_id NULL), then those of [identity.SystemTenant], p8's own.
//     Each is written where it is: nobody writes the system's rows from another
//     tenant.
//   - moments and feedback: its own; those without a user are the anonymous
//     callers'.
//   - users: itself.
//   - runs and what they ask: its own; those without a user are the anonymous
//     callers'.
//
// A [Run] is a turn that outlives its process: [Store.BeginRun] stores its
// beginning and [Store.WriteRun] whatever is new, each in one transaction: events
// in pieces, the journal, requests, messages, the end. One process owns it at a
// time; a run that waits or was left behind goes to who claims it first.
//
// Knowledge is read and written by a [Repository] for each table, or whole
// documents at once by [Store.PutDocuments]. [Maintenance] is the one way around
// the caller, for jobs and the command line: it embeds, and rebuilds the keys.
//
// The SQL is written once here, with $1…$n, over the few methods of an
// [Engine]; what must agree (a row, its key, its words, the task to embed it, its
// history, a session's totals) is written in one transaction, by Go, without
// triggers or sequences. Each table's columns are described once, by the fields of
// its type, from which its statements are derived. tenant_id begins every
// key, so the same schema can be cut by tenant.
//
// Errors: [ErrNotFound], [ErrConflict] and [ErrInvalid] say in words fit for a
// client what is wrong; everything else is a [Failure], whose text says that
// storage failed and whose cause is for the log.
package store
