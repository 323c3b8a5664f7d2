package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// example gives a new store to fn, with a context whose caller is Ada.
func example(fn func(ctx context.Context, s *store.Store) error) {
	dir, err := os.MkdirTemp("", "p8-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := identity.With(context.Background(), identity.Identity{UserID: "ada", Name: "Ada"})
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err == nil {
		err = errors.Join(fn(ctx, s), s.Close())
	}
	if err != nil {
		fmt.Println(err)
	}
}

func text(s string) *string { return &s }

// A session keeps its messages in order, for its owner alone.
func Example() {
	example(func(ctx context.Context, s *store.Store) error {
		question := &store.Message{Type: store.MessageUser, Content: text("What is tea?")}
		if err := s.BeginTurn(ctx, store.Session{ID: "tea-time"}, question); err != nil {
			return err
		}
		answer := &store.Message{SessionID: "tea-time", Type: store.MessageAssistant, Content: text("A drink.")}
		if err := s.FinishTurn(ctx, answer, "About tea"); err != nil {
			return err
		}
		rows, err := s.Messages(ctx, "tea-time", store.MessageFilter{})
		if err != nil {
			return err
		}
		for _, m := range rows {
			fmt.Println(m.Seq, m.Type, *m.Content)
		}
		bob := identity.With(ctx, identity.Identity{UserID: "bob"})
		_, err = s.Session(bob, "tea-time")
		fmt.Println("Bob:", err)
		return nil
	})
	// Output:
	// 1 user What is tea?
	// 2 assistant A drink.
	// Bob: session "tea-time": not found
}

// A row that is put can be looked up by its name, however that is written; the caller's
// own rows come before shared ones.
func ExampleRepository() {
	example(func(ctx context.Context, s *store.Store) error {
		shared := &store.Resource{Name: "Green Tea", Content: "Water of 80 degrees.", Base: store.Base{Shared: true}}
		own := &store.Resource{Name: "Green Tea", Content: "I like it with mint."}
		if err := s.Resources().Put(ctx, shared, own); err != nil {
			return err
		}
		found, err := s.Lookup(ctx, "green tea")
		for _, m := range found {
			fmt.Printf("%s %s own=%v: %s\n", m.Type, m.Key, m.Own, m.Summary)
		}
		return err
	})
	// Output:
	// resource green-tea own=true: I like it with mint.
	// resource green-tea own=false: Water of 80 degrees.
}

// Fuzzy finds rows whose keys or texts resemble a text.
func ExampleStore_Fuzzy() {
	example(func(ctx context.Context, s *store.Store) error {
		if err := s.Ontologies().Put(ctx, &store.Ontology{Name: "Sarah Chen", Content: "Leads the team of the kettle."}); err != nil {
			return err
		}
		found, err := s.Fuzzy(ctx, "sara chn", 0.3, 5)
		for _, m := range found {
			fmt.Println(m.Key, m.Type)
		}
		return err
	})
	// Output: sarah-chen ontology
}

// A document, its whole and its pieces are written together; a document that is there
// as it is costs no write.
func ExampleStore_PutDocuments() {
	example(func(ctx context.Context, s *store.Store) error {
		for range 2 {
			d := &store.Document{
				File:     &store.File{Name: "tea.md", URI: "docs/tea.md"},
				Ontology: &store.Ontology{Name: "tea", Content: "All about tea."},
				Chunks:   []*store.Resource{{Name: "tea-1", Content: "Green tea."}, {Name: "tea-2", Content: "Black tea."}},
			}
			if err := s.PutDocuments(ctx, d); err != nil {
				return err
			}
			fmt.Println("written:", d.Written)
		}
		return nil
	})
	// Output:
	// written: true
	// written: false
}

// Select answers a SELECT that the caller wrote. A mistake in it has a place and says
// what to write.
func ExampleStore_Select() {
	example(func(ctx context.Context, s *store.Store) error {
		if err := s.Resources().Put(ctx, &store.Resource{Name: "Tea", Rating: 5}, &store.Resource{Name: "Coffee", Rating: 4}); err != nil {
			return err
		}
		found, err := s.Select(ctx, `SELECT name, rating FROM resources WHERE rating > 3 ORDER BY rating DESC`, store.SelectBounds{})
		if err != nil {
			return err
		}
		fmt.Println(found.Columns, found.Rows)
		_, err = s.Select(ctx, `SELECT name FROM resorces`, store.SelectBounds{})
		var mistake *store.SelectError
		if errors.As(err, &mistake) {
			fmt.Println(mistake.Position, mistake.Problem)
		}
		return nil
	})
	// Output:
	// [name rating] [[Tea 5] [Coffee 4]]
	// 18 there is no table "resorces"; tables are schemas, resources, ontologies, moments, sessions, messages, users, files, feedback, manual; did you mean "resources"?
}

// What is learned about the caller is merged with what is known.
func ExampleUsers_Update() {
	example(func(ctx context.Context, s *store.Store) error {
		for _, likes := range []string{`{"likes": ["tea"]}`, `{"likes": ["Tea", "walks"], "home": "Bonn"}`} {
			if _, err := s.Users().Update(ctx, store.UserChange{Set: json.RawMessage(likes)}); err != nil {
				return err
			}
		}
		ada, err := s.Users().Get(ctx)
		fmt.Println(ada.Name, string(ada.Metadata))
		return err
	})
	// Output: Ada {"home":"Bonn","likes":["tea","walks"]}
}

// A run that waits for its user belongs to no process; the one that claims it goes on.
func ExampleStore_ClaimRun() {
	example(func(ctx context.Context, s *store.Store) error {
		const id = "0192f6a0-0000-7000-8000-000000000001"
		err := s.BeginRun(ctx, store.RunStart{
			Run:      store.Run{ID: id, Process: "first process", AgentName: "general"},
			Session:  store.Session{ID: "tea-time"},
			Messages: []*store.Message{{Type: store.MessageUser, Content: text("Order tea.")}},
		})
		if err != nil {
			return err
		}
		if _, err := s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "first process", Status: store.RunWaiting}); err != nil {
			return err
		}
		r, err := s.ClaimRun(ctx, id, "second process", store.RunsAllowed{})
		fmt.Println(r.Status, "in the", r.Process)
		_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "first process"})
		fmt.Println("the first process:", err)
		return nil
	})
	// Output:
	// running in the second process
	// the first process: the run belongs to another process
}

// Of several processes one has a lease.
func ExampleLeases() {
	example(func(ctx context.Context, s *store.Store) error {
		for _, owner := range []string{"first process", "second process"} {
			held, err := s.Leases().Take(ctx, "nightly work", owner, time.Minute)
			if err != nil {
				return err
			}
			fmt.Println(owner, held)
		}
		return s.Leases().Release(ctx, "nightly work", "first process")
	})
	// Output:
	// first process true
	// second process false
}

// The versions of a document are kept.
func ExampleStore_SchemaHistory() {
	example(func(ctx context.Context, s *store.Store) error {
		for _, content := range []string{"You make tea.", "You make good tea."} {
			if err := s.PutSchema(ctx, &store.Schema{Name: "tea-maker", Content: content}); err != nil {
				return err
			}
		}
		versions, err := s.SchemaHistory(ctx, "tea-maker", 0)
		for _, v := range versions {
			fmt.Println(v.Version, v.Operation, v.Content)
		}
		return err
	})
	// Output:
	// 2 update You make good tea.
	// 1 insert You make tea.
}
