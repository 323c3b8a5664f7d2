package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"p8/identity"
	"p8/store"
)

// methods lists the store's methods that take a context.
func methods(s *store.Store) map[string]reflect.Value {
	v := reflect.ValueOf(s)
	ctx := reflect.TypeFor[context.Context]()
	list := make(map[string]reflect.Value)
	for i := range v.NumMethod() {
		if m := v.Method(i); m.Type().NumIn() > 0 && m.Type().In(0) == ctx {
			list[v.Type().Method(i).Name] = m
		}
	}
	return list
}

func missingIdentity(t *testing.T, open Open) {
	s := open(t)
	for name, m := range methods(s) {
		in := []reflect.Value{reflect.ValueOf(context.Background())}
		for i := 1; i < m.Type().NumIn(); i++ {
			arg := m.Type().In(i)
			switch {
			case m.Type().IsVariadic() && i == m.Type().NumIn()-1:
			case arg.Kind() == reflect.Pointer:
				in = append(in, reflect.New(arg.Elem()))
			default:
				in = append(in, reflect.Zero(arg))
			}
		}
		out := m.Call(in)
		err, _ := out[len(out)-1].Interface().(error)
		if !errors.Is(err, identity.ErrMissing) {
			t.Errorf("%s without an identity: %v, want %v", name, err, identity.ErrMissing)
		}
	}
}

// caller is one of two users of two tenants, or anonymous in one of them.
type caller struct{ tenant, user string }

func (c caller) String() string       { return c.tenant + "/" + c.user }
func (c caller) ctx() context.Context { return as(c.tenant, c.user) }

var callers = []caller{
	{"one", "alice"}, {"one", "bob"}, {"one", ""},
	{"two", "alice"}, {"two", "bob"}, {"two", ""},
}

// reads says whether c may read what o wrote; writes whether c may write a
// session of o's, shares whether c may write a document of o's.
func (c caller) reads(o caller) bool  { return c == o || c.tenant == o.tenant && o.user == "" }
func (c caller) writes(o caller) bool { return c == o }
func (c caller) shares(o caller) bool { return c.reads(o) }

// things are a caller's rows. All callers use the same names; the text of a row
// is its owner, so that whatever comes back tells whose it is.
type things struct {
	caller
	session, message, schema, resource string
}

func populate(t *testing.T, s *store.Store) []things {
	t.Helper()
	var list []things
	for _, c := range callers {
		x := things{caller: c, session: "session of " + c.String()}
		m := userMessage(c.String())
		must(t, s.BeginTurn(c.ctx(), store.Session{ID: x.session, Description: c.String()}, m))
		d := &store.Schema{Name: "doc", Description: c.String(), Content: c.String()}
		must(t, s.PutSchema(c.ctx(), d))
		r := &store.Resource{Name: "note", Content: c.String()}
		must(t, s.Resources().Put(c.ctx(), r))
		if c.user != "" {
			must(t, s.PutUser(c.ctx(), &store.User{Name: "me", Summary: c.String()}))
		}
		x.message, x.schema, x.resource = m.ID, d.ID, r.ID
		list = append(list, x)
	}
	return list
}

// reading calls each reading method for a row of o's; it returns the owners of
// all rows that came back.
var reading = map[string]func(*store.Store, context.Context, things) ([]string, error){
	"Session": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		x, err := s.Session(ctx, o.session)
		return []string{x.Description}, err
	},
	"Sessions": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		list, _, err := s.Sessions(ctx, store.SessionFilter{})
		return each(list, func(x store.Session) string { return x.Description }), err
	},
	"Messages": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		list, err := s.Messages(ctx, o.session, store.MessageFilter{})
		return each(list, func(m store.Message) string { return *m.Content }), err
	},
	"Message": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		m, err := s.Message(ctx, o.message)
		if err != nil {
			return nil, err
		}
		return []string{*m.Content}, nil
	},
	"MessageBySeq": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		m, err := s.MessageBySeq(ctx, o.session, 1)
		if err != nil {
			return nil, err
		}
		return []string{*m.Content}, nil
	},
	"Schema": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		d, err := s.Schema(ctx, o.schema)
		return []string{d.Content}, err
	},
	"Schemas": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		list, _, err := s.Schemas(ctx, store.SchemaFilter{})
		return each(list, func(d store.Schema) string { return d.Content }), err
	},
	"Resource": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		r, err := s.Resources().Get(ctx, o.resource)
		return []string{r.Content}, err
	},
	"User": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		u, err := s.User(ctx)
		return []string{u.Summary}, err
	},
	"Lookup": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		var all []store.Match
		for _, key := range []string{"doc", "note", "me"} {
			list, err := s.Lookup(ctx, key)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return each(all, func(m store.Match) string { return m.Summary }), nil
	},
	"Fuzzy": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		list, err := s.Fuzzy(ctx, "doc note me", 0.01, 100)
		return each(list, func(m store.Match) string { return m.Summary }), err
	},
}

// onlyOwn are the methods that answer with the caller's rows whatever is asked.
var onlyOwn = []string{"Sessions", "User"}

func each[T any](list []T, f func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

func isolation(t *testing.T, open Open) {
	s := open(t)
	all := populate(t, s)
	for name := range methods(s) {
		if reading[name] == nil && writing[name] == nil {
			t.Errorf("%s: no isolation test knows this method", name)
		}
	}
	for name, call := range reading {
		for _, reader := range callers {
			for _, owner := range all {
				seen, err := call(s, reader.ctx(), owner)
				what := fmt.Sprintf("%s of %s for %s", name, owner.caller, reader)
				if err != nil {
					seen = nil
				}
				for _, o := range callers {
					if slices.Contains(seen, o.String()) && !reader.reads(o) {
						t.Errorf("%s shows rows of %s", what, o)
					}
				}
				visible := reader.reads(owner.caller)
				if slices.Contains(onlyOwn, name) {
					visible = reader == owner.caller && (name != "User" || reader.user != "")
				}
				if name == "Schemas" && reader != owner.caller {
					visible = false // hidden behind the reader's own of the same name
				}
				if got := slices.Contains(seen, owner.String()); got != visible {
					t.Errorf("%s: visible is %v, want %v (%v)", what, got, visible, err)
				}
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: %v, want %v", what, err, store.ErrNotFound)
				}
			}
		}
	}
}

// write is a writing method, called for a row of o's, and who may.
type write struct {
	call    func(s *store.Store, ctx context.Context, o things) error
	allowed func(c, o caller) bool
}

func changed(o things) *store.Message {
	return &store.Message{SessionID: o.session, Type: store.MessageAssistant, Content: text("changed")}
}

var writing = map[string]*write{
	"BeginTurn": {func(s *store.Store, ctx context.Context, o things) error {
		return s.BeginTurn(ctx, store.Session{ID: o.session, Description: "changed"}, changed(o))
	}, caller.writes},
	"Append": {func(s *store.Store, ctx context.Context, o things) error {
		return s.Append(ctx, changed(o))
	}, caller.writes},
	"FinishTurn": {func(s *store.Store, ctx context.Context, o things) error {
		return s.FinishTurn(ctx, changed(o), "changed")
	}, caller.writes},
	"DeleteSession": {func(s *store.Store, ctx context.Context, o things) error {
		return s.DeleteSession(ctx, o.session)
	}, caller.writes},
	"PutSchema": {func(s *store.Store, ctx context.Context, o things) error {
		return s.PutSchema(ctx, &store.Schema{ID: o.schema, Name: "doc", Content: "changed", Shared: o.user == ""})
	}, caller.shares},
	"DeleteSchema": {func(s *store.Store, ctx context.Context, o things) error {
		return s.DeleteSchema(ctx, o.schema)
	}, caller.shares},
	"PutResources": {func(s *store.Store, ctx context.Context, o things) error {
		return s.Resources().Put(ctx, &store.Resource{Base: store.Base{ID: o.resource, Shared: o.user == ""}, Name: "note", Content: "changed"})
	}, caller.shares},
	"DeleteResource": {func(s *store.Store, ctx context.Context, o things) error {
		return s.Resources().Delete(ctx, o.resource)
	}, caller.shares},
	"PutUser": {func(s *store.Store, ctx context.Context, o things) error {
		return s.PutUser(ctx, &store.User{ID: o.user, Name: "me", Summary: "changed"})
	}, func(c, o caller) bool { return c == o && c.user != "" }},
	"DeleteUser": {func(s *store.Store, ctx context.Context, o things) error {
		return s.DeleteUser(ctx)
	}, func(c, o caller) bool { return c == o && c.user != "" }},
}

// snapshot is everything that a caller's rows say, as itself.
func snapshot(s *store.Store, o things) string {
	ctx := o.ctx()
	out := ""
	for _, name := range []string{"Session", "Messages", "Schema", "Resource", "User"} {
		seen, err := reading[name](s, ctx, o)
		out += fmt.Sprintln(name, seen, err)
	}
	sess, _ := s.Session(ctx, o.session)
	return out + sess.Name + fmt.Sprint(sess.Messages)
}

func isolationOfWrites(t *testing.T, open Open) {
	for name, w := range writing {
		for _, writer := range callers {
			s := open(t)
			all := populate(t, s)
			before := make(map[caller]string)
			for _, o := range all {
				before[o.caller] = snapshot(s, o)
			}
			touched := make(map[caller]bool)
			for _, o := range all {
				if sameTarget(name, writer, o.caller) {
					continue
				}
				switch err := w.call(s, writer.ctx(), o); {
				case w.allowed(writer, o.caller):
					touched[o.caller] = true
					if err != nil {
						t.Errorf("%s of %s by %s: %v", name, o.caller, writer, err)
					}
				case err == nil && o.tenant == writer.tenant:
					t.Errorf("%s of %s by %s succeeds", name, o.caller, writer)
				case err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrInvalid):
					t.Errorf("%s of %s by %s: %v, want %v", name, o.caller, writer, err, store.ErrNotFound)
				}
			}
			for _, o := range all {
				if got := snapshot(s, o) != before[o.caller]; got != touched[o.caller] {
					t.Errorf("%s by %s: rows of %s changed: %v, want %v\nbefore: %s\nafter: %s",
						name, writer, o.caller, got, touched[o.caller], before[o.caller], snapshot(s, o))
				}
			}
			must(t, s.Close())
		}
	}
}

// sameTarget reports whether a method called for a row of o's is meant for the
// writer's own: ids of documents are made of name and user, whatever the tenant,
// and a user writes no user's row but its own.
func sameTarget(method string, writer, o caller) bool {
	switch method {
	case "PutUser":
		return o != writer && (o.user == "" || o.user == writer.user)
	case "DeleteUser":
		return o != writer
	case "PutSchema", "DeleteSchema", "PutResources", "DeleteResource":
		return o.tenant != writer.tenant && (o.user == "" || o.user == writer.user)
	}
	return false
}
