package completion

import (
	"context"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

// Word is a completion with its description.
type Word struct{ Text, Help string }

// MaxWords bounds the names from the database.
const MaxWords = 50

// agentWords returns the agents that can be run.
func agentWords(a *command.App) (list []Word) {
	_ = wiring.WithCatalog(a, command.Caller{}, func(ctx context.Context, docs *catalog.Catalog) error {
		entries, err := docs.List(ctx, "agent")
		for _, e := range entries {
			list = append(list, Word{e.Name, e.Description})
		}
		return err
	})
	return list
}

func sessionWords(a *command.App) (list []Word) {
	_ = wiring.WithStore(a, command.Caller{}, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return nil
		}
		found, _, err := s.Sessions(ctx, store.SessionFilter{Limit: MaxWords})
		for _, x := range found {
			list = append(list, Word{x.ID, x.Title})
		}
		return err
	})
	return list
}

func momentWords(a *command.App) (list []Word) {
	_ = wiring.WithStore(a, command.Caller{}, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return nil
		}
		found, _, err := s.Moments().Find(ctx, store.Filter{Limit: MaxWords})
		for _, x := range found {
			list = append(list, Word{x.Name, x.Summary})
		}
		return err
	})
	return list
}
