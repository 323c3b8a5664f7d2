package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// sharing: endless queries of one tenant leave room for those of another tenant, and
// queries of a user for those of another user.
func sharing(t *testing.T, open Open) {
	s := open(t)
	greedy, neighbour, other := as("greedy", "ann"), as("greedy", "bob"), as("other", "cat")
	var rows []*store.Resource
	for i := range 300 {
		rows = append(rows, &store.Resource{Name: fmt.Sprintf("resource %d", i), Content: "Some text about tea."})
	}
	must(t, s.Resources().Put(greedy, rows...))
	must(t, s.Resources().Put(neighbour, &store.Resource{Name: "ginger tea", Content: "Tea."}))
	must(t, s.Resources().Put(other, &store.Resource{Name: "ginger tea", Content: "Tea."}))

	ctx, cancel := context.WithCancel(greedy)
	var all sync.WaitGroup
	started := make(chan struct{}, 8)
	for range 8 {
		all.Go(func() {
			started <- struct{}{}
			for ctx.Err() == nil {
				_, err := s.Select(ctx, `SELECT count(*) FROM resources a, resources b, resources c, resources d WHERE a.name < b.name AND c.name < d.name`,
					store.SelectBounds{Timeout: time.Minute})
				if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrBusy) {
					t.Errorf("a slow query: %v", err)
					return
				}
			}
		})
	}
	for range 8 {
		<-started
	}
	defer all.Wait()
	defer cancel()
	for range 20 {
		for who, asks := range map[string]context.Context{"another user": neighbour, "another tenant": other} {
			asks, done := context.WithTimeout(asks, 20*time.Second)
			sel, err := s.Select(asks, `SELECT count(*) FROM resources`, store.SelectBounds{Timeout: 20 * time.Second})
			if err != nil || len(sel.Rows) != 1 || sel.Rows[0][0] != int64(1) {
				t.Fatalf("%s selects: %v %v", who, sel.Rows, err)
			}
			if found, err := s.Fuzzy(asks, "ginger tea", 0, 0); err != nil || len(found) == 0 {
				t.Fatalf("%s searches by name: %v %v", who, found, err)
			}
			if found, err := s.Search(asks, store.SearchQuery{Text: "tea", Hybrid: true}); err != nil || len(found) == 0 {
				t.Fatalf("%s searches: %v %v", who, found, err)
			}
			if _, err := s.Nodes(asks, []string{"ginger tea"}); err != nil {
				t.Fatalf("%s traverses: %v", who, err)
			}
			done()
		}
	}
}
