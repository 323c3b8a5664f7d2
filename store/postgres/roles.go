package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// role is a role that p8 becomes for a part of its statements. It logs in nowhere and owns
// nothing.
type role struct {
	name string
	// finding is its name in Doctor, without what does not work without the role.
	finding, without string
	// lacks returns the statements that give the role the rights and policies that it lacks.
	// The role exists.
	lacks func(context.Context, *pgx.Conn) ([]string, error)
}

// prepareRoles prepares both roles and returns the statement that begins a caller's
// transaction. Without the privilege to do so, what the roles are for is missing, and all
// else works.
func prepareRoles(ctx context.Context, o Options) (enter string, err error) {
	c, err := connect(ctx, o.URL)
	if err != nil {
		return "", err
	}
	defer disconnect(c)
	enter = enterPlain
	for _, r := range []role{reader, callers} {
		f, err := r.prepare(ctx, c)
		switch {
		case err != nil:
			return "", err
		case !f.OK:
			o.Logger.WarnContext(ctx, "a database role is missing", "problem", f.Detail, "mend", f.Mend)
		case r.name == callerRole:
			enter = enterRole
		}
	}
	return enter, nil
}

// state is what p8's own role can do with a role.
type state struct {
	user                         string
	exists, may, creates, unsafe bool
}

func (r role) state(ctx context.Context, c *pgx.Conn) (s state, err error) {
	err = c.QueryRow(ctx, `SELECT current_user, EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
		coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1), false),
		(SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user),
		coalesce((SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1), false)`, r.name).
		Scan(&s.user, &s.exists, &s.may, &s.creates, &s.unsafe)
	return s, err
}

// look returns the state of the role as a finding.
func (r role) look(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: r.finding}
	s, err := r.state(ctx, c)
	if !f.ask(err) {
		return f
	}
	grant := fmt.Sprintf("GRANT %s TO %s", r.name, pgx.Identifier{s.user}.Sanitize())
	switch {
	case s.unsafe:
		f.Detail, f.Mend = "row-level security does not bind the role "+r.name, "as a superuser: ALTER ROLE "+r.name+" NOSUPERUSER NOBYPASSRLS"
	case s.exists && s.may:
		f.OK, f.Detail = true, "the role "+r.name+" is there"
	case s.creates:
		f.OK, f.Detail = true, "the next start makes the role "+r.name
	case s.exists:
		f.Detail, f.Mend = "the role "+r.name+" may not be used: "+r.without, "as a superuser: "+grant
	default:
		f.Detail, f.Mend = "there is no role "+r.name+": "+r.without, "as a superuser: CREATE ROLE "+r.name+" NOLOGIN; "+grant
	}
	return f
}

// ready reports whether p8 can become the role, and the role lacks nothing.
func (r role) ready(ctx context.Context, c *pgx.Conn) (bool, error) {
	s, err := r.state(ctx, c)
	if err != nil || !s.exists || !s.may || s.unsafe {
		return false, err
	}
	missing, err := r.lacks(ctx, c)
	return len(missing) == 0, err
}

// prepare creates the role and gives it what it lacks, if p8's own role may.
func (r role) prepare(ctx context.Context, c *pgx.Conn) (Finding, error) {
	if ok, err := r.ready(ctx, c); err != nil || ok {
		return Finding{OK: ok}, err
	}
	unlock, err := lock(ctx, c, lockMigrate)
	if err != nil {
		return Finding{}, err
	}
	defer unlock()
	if f := r.look(ctx, c); !f.OK {
		return f, nil
	}
	for n := 1; ; n++ {
		problem := r.make(ctx, c)
		if ok, err := r.ready(ctx, c); ok || err != nil {
			return Finding{OK: ok}, err
		}
		// Roles belong to the whole server: a process of another database may be
		// doing the same.
		if n == attempts || wait(ctx, n) != nil {
			f := Finding{Name: r.finding, Detail: "the role " + r.name + " cannot be prepared: " + r.without, Mend: "give p8's role the right to do so"}
			if problem != nil {
				f.Detail += ": " + message(problem)
			}
			return f, nil
		}
	}
}

// make creates the role, becomes its member and gives it what it lacks: each statement is a
// transaction, so that it locks one table at a time.
func (r role) make(ctx context.Context, c *pgx.Conn) error {
	s, err := r.state(ctx, c)
	if err != nil {
		return err
	}
	if !s.exists {
		if _, err := c.Exec(ctx, `CREATE ROLE `+r.name+` NOLOGIN NOINHERIT`); err != nil {
			return err
		}
	}
	if !s.may {
		if _, err := c.Exec(ctx, `GRANT `+r.name+` TO `+pgx.Identifier{s.user}.Sanitize()); err != nil {
			return err
		}
	}
	missing, err := r.lacks(ctx, c)
	if err != nil {
		return err
	}
	for _, sql := range missing {
		if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}
