package api

import (
	"github.com/p8-org/p8/internal/api/internal/access"
	"github.com/p8-org/p8/internal/api/internal/chats"
	"github.com/p8-org/p8/internal/api/internal/documents"
	"github.com/p8-org/p8/internal/api/internal/dreams"
	"github.com/p8-org/p8/internal/api/internal/embeddings"
	"github.com/p8-org/p8/internal/api/internal/feedback"
	"github.com/p8-org/p8/internal/api/internal/knowledge"
	"github.com/p8-org/p8/internal/api/internal/middleware"
	"github.com/p8-org/p8/internal/api/internal/moments"
	"github.com/p8-org/p8/internal/api/internal/privacy"
	"github.com/p8-org/p8/internal/api/internal/quotas"
	"github.com/p8-org/p8/internal/api/internal/reminders"
	"github.com/p8-org/p8/internal/api/internal/sessions"
	"github.com/p8-org/p8/internal/api/internal/traces"
	"github.com/p8-org/p8/internal/api/internal/usage"
)

// The parts of the server, each declared by the routes that use it. Their methods take
// the caller's identity from the context.
type (
	// Chat starts turns and knows what became of them. Implemented by *chat.Service.
	Chat = chats.Chat
	// Catalog finds agents. Implemented by *catalog.Catalog.
	Catalog = chats.Catalog
	// Store has sessions and documents. Implemented by *store.Store.
	Store interface {
		chats.Store
		sessions.Store
		documents.Store
	}
	// Diary is what happened to the caller, by session and by day. Implemented by
	// store.Diary.
	Diary interface {
		sessions.Timeline
		moments.Feed
	}
	// Previewer returns what the next turn of a session sends. Implemented by
	// *chat.Service.
	Previewer = sessions.Previewer
	// Brancher goes to another branch of a session. Implemented by *chat.Service.
	Brancher = sessions.Brancher
	// Builder makes moments of a session's messages. Implemented by *memory.Builder.
	Builder = sessions.Builder
	// Knowledge answers queries. Implemented by *rem.Engine.
	Knowledge = knowledge.Engine
	// Asker answers questions. Implemented by *ask.Asker.
	Asker = knowledge.Asker
	// Ingest takes in files. Implemented by *ingest.Ingester.
	Ingest = knowledge.Ingest
	// Files reads the rows of files. Implemented by store.Repository[store.File].
	Files = knowledge.Files
	// Pieces finds the resources of files. Implemented by store.Repository[store.Resource].
	Pieces = knowledge.Pieces
	// Recorder makes the moment of a file, as memory.RecordUpload does.
	Recorder = knowledge.Recorder
	// Embedder is an embedding model. Implemented by embed.Model.
	Embedder = embeddings.Model
	// Moments are the caller's. Implemented by store.Repository[store.Moment].
	Moments = moments.Moments
	// Reminders are the caller's. Implemented by *reminder.Service.
	Reminders = reminders.Reminders
	// Dreams makes moments and dreams. Implemented by *dream.Service.
	Dreams = dreams.Dreams
	// Accounts makes keys and logs users in. Implemented by *account.Service.
	Accounts = access.Accounts
	// Quotas are what tenants, users and keys may use. Implemented by *quota.Manager.
	Quotas = quotas.Quotas
	// Feedback is what people say about answers. Implemented by *feedback.Service.
	Feedback = feedback.Feedback
	// Traces reads what happened in sessions and runs. Implemented by trace.Reader.
	Traces = traces.Reader
	// Usage reports what models consumed. Implemented by *store.Store.
	Usage = usage.Store
	// Jobs counts the background work. Implemented by *jobs.Queue.
	Jobs = dreams.Jobs
	// Meter counts what the server refuses and streams.
	Meter = middleware.Meter
	// Privacy gives the caller's data out and deletes them. Implemented by
	// *privacy.Service.
	Privacy = privacy.Privacy
)
