package store

import (
	"cmp"
	"context"
)

// Users reads and writes the table users, in which each caller has one row.
type Users struct{ store *Store }

// Users returns the caller's row in users, to be read and written.
func (s *Store) Users() Users { return Users{s} }

// Get returns the caller's row.
func (all Users) Get(ctx context.Context) (User, error) {
	var u User
	err := all.store.read(ctx, "read user", func(c Conn, by caller) error {
		rec, err := users.nearest(ctx, c, by, "id", by.UserID)
		if err == nil && rec == nil {
			err = notFound("user", by.UserID)
		}
		if err == nil {
			u = *rec.(*User)
		}
		return err
	})
	return u, err
}

func (u *User) fields(f *fields) {
	f.require("name", &u.Name)
	f.add("email", &u.Email)
	f.add("content", &u.Content)
	f.add("interests", &u.Interests)
	f.add("preferred_topics", &u.Topics)
	f.require("id", &u.ID)
	// Each row belongs to the person it describes.
	f.require("user_id", &u.ID)
	f.as("")
	f.add("metadata", &u.Metadata)
	f.require("created_at", &u.CreatedAt)
	f.require("updated_at", &u.UpdatedAt)
}

func (u *User) place() place {
	return place{new(string), &u.ID, &u.ID, new(bool), &u.CreatedAt, &u.UpdatedAt, &u.Metadata}
}

func (u *User) identity() (column, value string) { return "id", u.ID }

func (u *User) entry() entry {
	return entry{name: u.Name, metadata: u.Metadata, summary: cmp.Or(u.Content, u.Name)}
}

// Put writes the caller's own row, restoring a deleted one, and sets its ID and times.
// Another ID is ErrNotFound. An anonymous caller has no row and gets ErrInvalid.
func (all Users) Put(ctx context.Context, u *User) error {
	if err := u.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return all.store.writing(ctx, "store user", func(w *writer) error {
		if w.by.Anonymous() {
			return invalidf("an anonymous caller has no user row")
		}
		if u.ID != "" && u.ID != w.by.UserID {
			return notFound("user", u.ID)
		}
		return w.putUser(ctx, u)
	})
}

// ensureUser writes the caller's row from the identity, if the caller never had one.
func (w *writer) ensureUser(ctx context.Context) error {
	if w.by.Anonymous() || w.by.Visitor() || w.by.author != "" {
		return nil
	}
	return w.c.Later(ctx, Statement{
		SQL: `SELECT 1 FROM users WHERE tenant_id = $1 AND id = $2`, Args: []any{w.by.TenantID, w.by.UserID},
		Missing: func() error { return w.newUser(ctx) },
	})
}

// newUser writes the caller's row from the identity.
func (w *writer) newUser(ctx context.Context) error {
	by := w.by
	// The name and the e-mail come from a token or a header. A name that cannot be a key is
	// left out: it must not fail the turn.
	u := User{Name: cmp.Or(by.Name, by.Email, by.UserID), Email: by.Email}
	if u.check() != nil {
		u = User{Name: by.UserID}
	}
	if _, err := checkKey(u.Name); err != nil {
		u.Name = "user"
	}
	return w.putUser(ctx, &u)
}

func (w *writer) putUser(ctx context.Context, u *User) error {
	old, live, err := w.lockUser(ctx)
	if err != nil {
		return err
	}
	p := placed{id: w.by.UserID, live: live}
	if old != nil {
		p.old = old
	}
	return w.replace(ctx, users, p, u, w.by.user)
}

// lockUser returns the caller's row, nil if the caller has none. It is locked until the
// transaction ends.
func (w *writer) lockUser(ctx context.Context) (old *User, live bool, err error) {
	q := newQuery(users.placing)
	q.args = []any{w.by.TenantID, w.by.UserID}
	q.add(`tenant_id = $1 AND id = $2` + w.store.dialect.lock())
	var f fields
	err = w.c.Query(ctx, q.String(), func(r Row) error {
		old = new(User)
		return f.scan(r, old, &live)
	}, q.args...)
	return old, live, err
}

func (u *User) check() error {
	u.Name = cmp.Or(u.Name, u.Email)
	if _, err := checkKey(u.Name); err != nil {
		return err
	}
	if err := cleanTexts("email", &u.Email, "content", &u.Content); err != nil {
		return err
	}
	return firstError(cleanList("interests", u.Interests), cleanList("preferred_topics", u.Topics), checkObject("metadata", &u.Metadata))
}

// Delete hides the caller's row and removes its key.
func (all Users) Delete(ctx context.Context) error {
	return all.store.writing(ctx, "delete user", func(w *writer) error {
		rec, err := users.nearest(ctx, w.c, w.by, "id", w.by.UserID)
		if err == nil && rec == nil {
			err = notFound("user", w.by.UserID)
		}
		if err != nil {
			return err
		}
		return w.remove(ctx, users, rec)
	})
}
