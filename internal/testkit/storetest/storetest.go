// Package storetest is the suite that every engine of package store must pass.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) *store.Store { … }, fork)
//	}
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Open returns a new, empty store, which the test's cleanup closes. The suite
// opens hundreds: a copy of a migrated database is cheaper than a migration.
type Open func(t *testing.T) *store.Store

// Fork fills a new store and returns a function that gives a store with exactly
// those rows. A call of that function ends the use of the store it gave before.
type Fork func(t *testing.T, fill func(*store.Store)) (filled func() *store.Store)

// Run runs the whole suite.
func Run(t *testing.T, open Open, fork Fork) {
	t.Run("isolation of writes", func(t *testing.T) { isolationOfWrites(t, fork) })
	for _, test := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"identity", missingIdentity},
		{"isolation", isolation},
		{"turn", turn},
		{"turn with history", turnWithHistory},
		{"run", runBegin},
		{"run drops messages", runDrop},
		{"run paging", runPaging},
		{"run changes", runChanges},
		{"run hooks", runHooks},
		{"hooks of all callers", replacedHooks},
		{"run writes", runWrite},
		{"run log", runLog},
		{"run claim", runClaim},
		{"run stop", runStop},
		{"run requests", runRequests},
		{"run invalid", runInvalid},
		{"run recover", runRecover},
		{"processes", processes},
		{"run prune", runPrune},
		{"run concurrency", runConcurrency},
		{"session", sessions},
		{"session paging", sessionPaging},
		{"session of background work", backgroundSessions},
		{"session changed", patchSession},
		{"session titled", titleSession},
		{"session found by words", sessionSearch},
		{"session found with an excerpt", sessionExcerpt},
		{"session found in pages", sessionSearchPages},
		{"session found while others are written", sessionSearchAtOnce},
		{"session deleted", sessionDelete},
		{"session id of several callers", sameSession},
		{"session id of several callers at once", sameSessionAtOnce},
		{"session without messages", putSession},
		{"session parts", chunks},
		{"session parts at once", chunkRace},
		{"branches", branches},
		{"branches and moments", branchMoments},
		{"branches at once", branchesAtOnce},
		{"recall", recall},
		{"recall moments", recallMoments},
		{"recall runs", recallRuns},
		{"shares", shares},
		{"leases", leases},
		{"keys", apiKeys},
		{"keys in bulk", manyKeys},
		{"accounts", accounts},
		{"logins", logins},
		{"logins at once", loginsAtOnce},
		{"pauses of logins", loginPauses},
		{"audit log", audit},
		{"feed", feed},
		{"change moment", changeMoment},
		{"timeline", timeline},
		{"linked moments", linked},
		{"active users", activeUsers},
		{"usage", usage},
		{"usage report", usageReport},
		{"list feedback", listFeedback},
		{"quotas", quotas},
		{"retentions", retentions},
		{"experiments", experiments},
		{"evaluations", evaluations},
		{"quota usage", quotaUsage},
		{"quota of runs", quotaRuns},
		{"quota of runs that go on", quotaClaims},
		{"quota of guests and visitors", quotaGuests},
		{"messages", messages},
		{"message filter", messageFilter},
		{"message parts", messageParts},
		{"round trip", roundTrip},
		{"invalid", invalid},
		{"user", users},
		{"user metadata", userMetadata},
		{"user lists", userLists},
		{"schema", schemas},
		{"schema mirror", schemaMirrors},
		{"schema paging", schemaPaging},
		{"resource", resources},
		{"entities", entities},
		{"invalid entities", invalidEntities},
		{"upsert", upsert},
		{"find", find},
		{"find lists", findLists},
		{"find by when it happened", findHappened},
		{"documents", documents},
		{"nodes", nodes},
		{"embedding queue", embeddingQueue},
		{"schema history", schemaHistory},
		{"rebuild keys", rebuildKeys},
		{"registry", registry},
		{"system tenant", systemTenant},
		{"lookup", lookup},
		{"fuzzy", fuzzy},
		{"fuzzy follows writes", fuzzyFollows},
		{"search", search},
		{"manual", manual},
		{"inward", inward},
		{"inward hub", inwardHub},
		{"search isolation", searchIsolation},
		{"search models", searchModels},
		{"search filters", searchFilters},
		{"search hybrid", searchHybrid},
		{"search tables", searchTables},
		{"search titles", searchTitles},
		{"search follows writes", searchFollows},
		{"select", selects},
		{"select scopes", selectScopes},
		{"select bounds", selectBounds},
		{"select escapes", selectEscapes},
		{"sharing", sharing},
		{"cancelled", cancelled},
		{"concurrency", concurrency},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// as returns the context of a caller; user "" is anonymous.
func as(tenant, user string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: user, Name: user})
}

func text(s string) *string { return &s }

func after(seq int64) *int64 { return &seq }

func userMessage(s string) *store.Message {
	return &store.Message{Type: store.MessageUser, Content: text(s)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if f := (*store.Failure)(nil); errors.As(err, &f) {
		t.Fatal(f.LogValue())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// get is the value of a call that must succeed.
func get[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(sameJSON)); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// sameJSON compares values: an engine may store JSON with its keys in another order.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func begin(t *testing.T, s *store.Store, ctx context.Context, session, content string) *store.Message {
	t.Helper()
	m := userMessage(content)
	must(t, s.BeginTurn(ctx, store.Session{ID: session}, m))
	return m
}
