package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store/internal/fair"
)

// Store is the repositories over one engine. Its methods are safe for
// concurrent use.
type Store struct {
	engine  Engine
	dialect Dialect
	fuzzy   *fuzzyIndexes
	// vectors is nil for an engine that has vector indexes of its own.
	vectors *vectorIndexes
	// queued gets a value when texts wait for their vectors.
	queued chan struct{}
	// reserved are the names that no tenant's shared document may have.
	reserved reservedNames
	// queries shares what callers' queries may take of the engine.
	queries *fair.Queue
	health  health
	now     func() time.Time
}

// Options are what a store is told of the program around it; the zero value works.
type Options struct {
	// Reserved are all names of the documents that come with the program: no shared
	// document of a tenant may have one of them, however it is spelled.
	Reserved []string
}

// New is a store on an engine, which it owns and closes.
func New(e Engine) *Store { return NewWith(e, Options{}) }

// NewWith is New, with options.
func NewWith(e Engine, o Options) *Store {
	s := &Store{
		engine: e, dialect: e.Dialect(), fuzzy: newFuzzyIndexes(),
		queued: make(chan struct{}, 1), reserved: newReservedNames(o.Reserved), now: time.Now, queries: newQueries(e),
	}
	if _, ok := e.(Indexed); !ok {
		s.vectors = newVectorIndexes(vectorBudget)
	}
	return s
}

// Close closes the engine. Nothing may be called after it.
func (s *Store) Close() error { return fail("close", s.engine.Close()) }

// clock is the present in the precision that every engine keeps.
func (s *Store) clock() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// scope is who asks, in the database's terms.
type scope struct {
	identity.Identity
	// user is the user_id column: a string, or nil for anonymous.
	user any
}

func scopeOf(ctx context.Context) (scope, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return scope{}, err
	}
	if !printable(id.TenantID, maxName) {
		return scope{}, invalidf("the tenant must be 1-%d printable characters", maxName)
	}
	if id.UserID != "" && !printable(id.UserID, maxName) {
		return scope{}, invalidf("the user id must be 1-%d printable characters", maxName)
	}
	return scope{Identity: id, user: null(id.UserID)}, nil
}

// owner is the user_id column of a row that the caller writes.
func (sc scope) owner(shared bool) any {
	if shared {
		return nil
	}
	return sc.user
}

// read and write run fn for the caller of ctx; op names it in errors.
func (s *Store) read(ctx context.Context, op string, fn func(Conn, scope) error) error {
	return s.run(ctx, op, s.engine.Read, fn)
}

func (s *Store) write(ctx context.Context, op string, fn func(Conn, scope) error) error {
	return s.run(ctx, op, s.engine.Write, fn)
}

func (s *Store) run(ctx context.Context, op string,
	with func(context.Context, func(Conn) error) error, fn func(Conn, scope) error,
) error {
	sc, err := scopeOf(ctx)
	if err != nil {
		return err
	}
	return fail(op, with(ctx, func(c Conn) error { return fn(c, sc) }))
}

// null stores "" as NULL.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// encode is v as JSON; what the store marshals always can be.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// one runs a query whose first row is all that matters, and says whether there
// was one.
func one(ctx context.Context, c Conn, sql string, dest []any, args ...any) (bool, error) {
	found := false
	err := c.Query(ctx, sql, func(r Row) error {
		found = true
		return r.Scan(dest...)
	}, args...)
	return found, err
}
