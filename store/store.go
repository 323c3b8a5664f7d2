package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

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
	// queued receives a value when texts are queued for their vectors.
	queued chan struct{}
	// reserved are the names that no tenant's shared document may have.
	reserved reservedNames
	replaces func(before, after *Schema) error
	// queries shares the engine fairly between the queries of callers.
	queries *fair.Queue
	health  health
	// metered: what callers spend is counted.
	metered atomic.Bool
	// seals is nil without a master key.
	seals *sealing
	now   func() time.Time
}

// Options configure a store; the zero value works.
type Options struct {
	// Reserved are all names of the documents that come with the program. No shared
	// document of a tenant may have one of them, in any spelling.
	Reserved []string
	// Replaces is asked before a document that a person wrote replaces a stored one, unless it
	// is AnyVersion; its error, which is for that person, becomes an ErrConflict. It may be
	// called more than once for one document. nil allows all.
	Replaces func(before, after *Schema) error
	// Encryption encrypts the texts of tenants; engines need [Open] for it.
	Encryption Encryption
	// Now is the clock of the rows; the system's if nil.
	Now func() time.Time
}

// New returns a store on an engine, which it owns and closes.
func New(e Engine) *Store { return NewWith(e, Options{}) }

// NewWith is New, with options.
func NewWith(e Engine, o Options) *Store {
	s := &Store{
		engine: e, dialect: e.Dialect(), fuzzy: newFuzzyIndexes(),
		queued: make(chan struct{}, 1), reserved: newReservedNames(o.Reserved), replaces: o.Replaces, now: o.Now, queries: newQueries(e),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if o.Encryption.Master != nil {
		s.seals = newSealing(o.Encryption, e)
	}
	if _, ok := e.(Indexed); !ok {
		s.vectors = newVectorIndexes(vectorBudget)
	}
	return s
}

// Close closes the engine. No method may be called afterwards.
func (s *Store) Close() error { return fail("close", s.engine.Close()) }

// clock returns the present time in the precision that every engine stores.
func (s *Store) clock() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// read and write run fn for the caller of ctx; op names it in errors.
func (s *Store) read(ctx context.Context, op string, fn func(Conn, caller) error) error {
	return s.run(ctx, op, s.engine.Read, fn)
}

func (s *Store) write(ctx context.Context, op string, fn func(Conn, caller) error) error {
	return s.change(ctx, op, func(c Conn, by caller) error {
		if err := s.refuseErased(ctx, c, by); err != nil {
			return err
		}
		return fn(c, by)
	})
}

// change is write for what creates no rows but those of a run that has begun: it is not
// refused while the caller's data are being deleted, so that runs end.
func (s *Store) change(ctx context.Context, op string, fn func(Conn, caller) error) error {
	if _, err := Writer(ctx); errors.Is(err, ErrForbidden) {
		return fail(op, err)
	}
	return s.run(ctx, op, s.engine.Write, fn)
}

func (s *Store) run(ctx context.Context, op string,
	with func(context.Context, Scope, func(Conn) error) error, fn func(Conn, caller) error,
) error {
	by, err := callerOf(ctx)
	if err != nil {
		return err
	}
	if s.seals != nil {
		if by.seal, err = s.seals.of(ctx, by.TenantID, by.MayWrite()); err != nil {
			return fail(op, err)
		}
		plain, opens := fn, s.opener(by)
		fn = func(c Conn, by caller) error { return plain(opens.conn(c), by) }
	}
	ctx, observed := s.observe(ctx, op)
	err = with(ctx, by.scope(), func(c Conn) error { return fn(c, by) })
	observed.End(failureOf(err))
	return fail(op, err)
}

// opener opens what the caller reads, nil if nothing is encrypted.
func (s *Store) opener(by caller) *opener {
	if s.seals == nil {
		return nil
	}
	return &opener{s.seals, by.TenantID}
}

// Tables lists the tables that Select may read.
func (*Store) Tables() []TableInfo { return Tables() }
