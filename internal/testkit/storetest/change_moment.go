package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

// changeMoment: of many changes at once, no one is lost, even if the first of them creates the
// moment.
func changeMoment(t *testing.T, open Open) {
	s := open(t)
	ctx, other := as("t", "u"), as("t", "v")
	add := func(text string) func(*store.Moment) (*store.Moment, error) {
		return func(old *store.Moment) (*store.Moment, error) {
			if old == nil {
				return &store.Moment{Name: "ignored", MomentType: "note", Summary: text}, nil
			}
			return &store.Moment{Summary: old.Summary + " " + text}, nil
		}
	}
	must(t, s.ChangeMoment(other, "seen", add("other")))
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			if err := s.ChangeMoment(ctx, "seen", add(fmt.Sprint("n", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	m := get[store.Moment](t)(s.Moments().ByName(ctx, "seen"))
	wantEqual(t, "changes", []any{len(strings.Fields(m.Summary)), m.MomentType}, []any{12, "note"})
	wantEqual(t, "of the other user", get[store.Moment](t)(s.Moments().ByName(other, "seen")).Summary, "other")
	wantEqual(t, "found by its key", len(get[[]store.Match](t)(s.Lookup(ctx, "seen"))), 1)

	unchanged := func(*store.Moment) (*store.Moment, error) { return nil, nil }
	must(t, s.ChangeMoment(ctx, "seen", unchanged))
	wantEqual(t, "unchanged", get[store.Moment](t)(s.Moments().ByName(ctx, "seen")), m)
	must(t, s.ChangeMoment(ctx, "none", unchanged))
	wantErr(t, "refused", s.ChangeMoment(ctx, "none", func(*store.Moment) (*store.Moment, error) { return nil, store.ErrConflict }), store.ErrConflict)
	wantErr(t, "no name", s.ChangeMoment(ctx, "", add("x")), store.ErrInvalid)
	_, err := s.Moments().ByName(ctx, "none")
	wantErr(t, "not stored", err, store.ErrNotFound)

	must(t, s.Moments().Delete(ctx, "seen"))
	must(t, s.ChangeMoment(ctx, "seen", add("anew")))
	wantEqual(t, "after it was deleted", get[store.Moment](t)(s.Moments().ByName(ctx, "seen")).Summary, "anew")
}
