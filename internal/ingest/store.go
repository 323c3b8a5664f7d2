package ingest

import (
	"context"

	"github.com/p8-org/p8/store"
)

// Store is what ingestion reads and writes; [Over] makes one of a *store.Store.
type Store struct {
	Documents Documents
	Files     Files
	// The tables that take rows.
	Resources  Resources
	Ontologies Rows[store.Ontology]
	Moments    Rows[store.Moment]
	Feedback   Rows[store.Feedback]
	Users      Users
}

// Documents are the writes of a *store.Store.
type Documents interface {
	// PutDocuments writes files with the rows made of them, all or none.
	PutDocuments(ctx context.Context, docs ...*store.Document) error
	PutSchema(ctx context.Context, s *store.Schema) error
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
}

// Users takes the row of the caller.
type Users interface {
	Put(ctx context.Context, u *store.User) error
}

// Files are the rows of stored files.
type Files interface {
	Find(ctx context.Context, f store.Filter) (rows []store.File, next string, err error)
	Delete(ctx context.Context, nameOrID string) error
}

// Resources are the chunks of documents, and rows of their own.
type Resources interface {
	Rows[store.Resource]
	Find(ctx context.Context, f store.Filter) (rows []store.Resource, next string, err error)
}

// Rows takes the rows of a table.
type Rows[T any] interface {
	Put(ctx context.Context, rows ...*T) error
}

// Over makes a Store of a *store.Store.
func Over(s *store.Store) Store {
	return Store{
		Documents: s, Files: s.Files(),
		Resources: s.Resources(), Ontologies: s.Ontologies(), Moments: s.Moments(), Feedback: s.Feedback(), Users: s.Users(),
	}
}
