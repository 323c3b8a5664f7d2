package store

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/identity"
)

// LoginLimit bounds the failed logins of a subject: an account, an address, or a pair of them.
type LoginLimit struct {
	Subject string
	// Free is the number of failed logins without a pause. The next one is followed by First,
	// and each further one by twice the pause before, up to Most.
	Free        int
	First, Most time.Duration
	// Decay is the time after which one failed login is forgotten.
	Decay time.Duration
	// Clears makes a successful login forget all failed ones.
	Clears bool
}

const (
	// loginForgotten is how long a row of tries is kept after a failed login.
	loginForgotten = 6 * time.Hour
	// noTenant has the rows of logins whose tenant nobody knows.
	noTenant = identity.SystemTenant
)

// pause returns how long to wait after the nth failed login.
func (l LoginLimit) pause(n int64) time.Duration {
	beyond := n - int64(l.Free)
	if beyond <= 0 {
		return 0
	}
	return min(l.First<<min(beyond-1, 20), l.Most)
}

// tries is the row of a subject.
type tries struct {
	n int64
	// next is the end of the pause; at is when the next failed login began to be forgotten.
	next, at time.Time
}

// decay forgets what is old. More failures than the longest pause takes do not count, else a
// long attack would be felt for long.
func (t *tries) decay(l LoginLimit, now time.Time) {
	for t.n > int64(l.Free)+1 && l.pause(t.n-1) == l.Most {
		t.n--
	}
	if l.Decay > 0 && now.After(t.at) {
		gone := min(int64(now.Sub(t.at)/l.Decay), t.n)
		t.n -= gone
		t.at = t.at.Add(time.Duration(gone) * l.Decay)
	}
	if t.n == 0 {
		t.at = now
	}
}

// LoginWait returns how long a subject must wait. It writes nothing.
func (a Access) LoginWait(ctx context.Context, limits ...LoginLimit) (wait time.Duration, err error) {
	err = a.store.engine.ReadSystem(ctx, func(c Conn) error {
		wait = 0
		for _, l := range limits {
			next := time.Time{}
			found, err := one(ctx, c, `SELECT next_at FROM login_tries WHERE tenant_id = $1 AND subject = $2`, []any{&next}, noTenant, l.Subject)
			if err != nil {
				return err
			}
			if found {
				wait = max(wait, next.Sub(a.store.clock()))
			}
		}
		return nil
	})
	return wait, fail("read failed logins", err)
}

// errMustWait ends a transaction that would only have stored rows without a try.
var errMustWait = errors.New("the login must wait")

// TryLogin counts a login as failed, in advance, so that logins at once cannot pass a limit;
// LoggedIn takes that back. If a subject must wait, it counts nothing and returns how long.
func (a Access) TryLogin(ctx context.Context, limits ...LoginLimit) (wait time.Duration, err error) {
	err = a.write(ctx, "count a login", func(c Conn) error {
		wait = 0
		now := a.store.clock()
		rows := make([]tries, len(limits))
		for i, l := range limits {
			if _, err := c.Exec(ctx, `INSERT INTO login_tries (tenant_id, subject, tries, next_at, updated_at) VALUES ($1, $2, 0, $3, $3)
				ON CONFLICT (tenant_id, subject) DO NOTHING`, noTenant, l.Subject, now); err != nil {
				return err
			}
			t := &rows[i]
			if _, err := one(ctx, c, `SELECT tries, next_at, updated_at FROM login_tries WHERE tenant_id = $1 AND subject = $2`+a.store.dialect.lock(),
				[]any{&t.n, &t.next, &t.at}, noTenant, l.Subject); err != nil {
				return err
			}
			t.decay(l, now)
			wait = max(wait, t.next.Sub(now))
		}
		if wait > 0 {
			return errMustWait
		}
		for i, l := range limits {
			t := rows[i]
			if _, err := c.Exec(ctx, `UPDATE login_tries SET tries = $3, next_at = $4, updated_at = $5 WHERE tenant_id = $1 AND subject = $2`,
				noTenant, l.Subject, t.n+1, now.Add(l.pause(t.n+1)), t.at); err != nil {
				return err
			}
		}
		return nil
	})
	if wait > 0 {
		return wait, nil
	}
	return 0, err
}

// Forgive takes back what TryLogin counted, as LoggedIn does, for a right password without a
// login.
func (a Access) Forgive(ctx context.Context, limits ...LoginLimit) error {
	return a.write(ctx, "forget failed logins", func(c Conn) error { return forgive(ctx, c, a.store.clock(), limits) })
}

// forgive also ends the pause that TryLogin began, which would make the next login wait.
func forgive(ctx context.Context, c Conn, now time.Time, limits []LoginLimit) error {
	for _, l := range limits {
		s := Statement{
			SQL:  `UPDATE login_tries SET tries = tries - 1, next_at = $3 WHERE tenant_id = $1 AND subject = $2 AND tries > 0`,
			Args: []any{noTenant, l.Subject, now},
		}
		if l.Clears {
			s = Statement{SQL: `DELETE FROM login_tries WHERE tenant_id = $1 AND subject = $2`, Args: []any{noTenant, l.Subject}}
		}
		if err := c.Later(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
