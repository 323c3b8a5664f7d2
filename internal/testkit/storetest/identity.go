package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// methods lists the methods that take a context: the store's, and those of its families
// as "Users.Get". Maintenance and Access have no caller, by intent.
func methods(s *store.Store) map[string]reflect.Value {
	list := make(map[string]reflect.Value)
	add := func(prefix string, v reflect.Value) {
		ctx := reflect.TypeFor[context.Context]()
		for i := range v.NumMethod() {
			if m := v.Method(i); m.Type().NumIn() > 0 && m.Type().In(0) == ctx {
				list[prefix+v.Type().Method(i).Name] = m
			}
		}
	}
	all := reflect.ValueOf(s)
	add("", all)
	for i := range all.NumMethod() {
		m, name := all.Method(i), all.Type().Method(i).Name
		if t := m.Type(); name != "Maintenance" && name != "Access" && t.NumIn() == 0 && t.NumOut() == 1 && t.Out(0).Kind() == reflect.Struct {
			add(name+".", m.Call(nil)[0])
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

// caller is one of two users of two tenants, or an anonymous caller of one of them.
type caller struct{ tenant, user string }

func (c caller) String() string       { return c.tenant + "/" + c.user }
func (c caller) ctx() context.Context { return as(c.tenant, c.user) }

var callers = []caller{
	{"one", "alice"}, {"one", "bob"}, {"one", ""},
	{"two", "alice"}, {"two", "bob"}, {"two", ""},
}

// zone is the time zone of the caller's profile; each caller has another one.
func (c caller) zone() string { return fmt.Sprintf("Etc/GMT+%d", slices.Index(callers, c)+1) }

// The rights of a caller on a row of o.
func (c caller) owns(o caller) bool  { return c == o }
func (c caller) named(o caller) bool { return c == o && c.user != "" }
func (c caller) reads(o caller) bool { return c == o || c.tenant == o.tenant && o.user == "" }

// things are a caller's rows. All callers use the same names; the text of a row names its
// owner, so that each result shows whose it is.
type things struct {
	caller
	session, message, schema                   string
	resource, ontology, moment, file, feedback string
	// run is running, waiting has the open request, ended has ended.
	run, waiting, ended, request string
}

// base is the base of o's row with this id, as any caller would write it.
func (o things) base(id string) store.Base { return store.Base{ID: id, Shared: o.user == ""} }

func populate(t *testing.T, s *store.Store) []things {
	t.Helper()
	var list []things
	for _, c := range callers {
		ctx, text := c.ctx(), c.String()
		x := things{caller: c, session: "session of " + text}
		m := userMessage(text)
		must(t, s.BeginTurn(ctx, store.Session{ID: x.session, Description: text}, m))
		d := &store.Schema{Name: "doc", Description: text, Content: text}
		must(t, s.PutSchema(ctx, d))
		r := &store.Resource{Name: "note", Content: text}
		must(t, s.Resources().Put(ctx, r))
		o := &store.Ontology{Name: "page", Content: text}
		o.GraphEdges = []store.Edge{{Target: "hub", Relation: text}}
		must(t, s.Ontologies().Put(ctx, o))
		mo := &store.Moment{Name: "meeting", Summary: text}
		must(t, s.Moments().Put(ctx, mo))
		f := &store.File{Name: "paper", ParsedContent: text}
		must(t, s.Files().Put(ctx, f))
		fb := &store.Feedback{Comment: text}
		must(t, s.Feedback().Put(ctx, fb))
		if c.user != "" {
			must(t, s.Users().Put(ctx, &store.User{Name: "me", Content: text, Metadata: json.RawMessage(`{"timezone":"` + c.zone() + `"}`)}))
		}
		x.message, x.schema, x.resource = m.ID, d.ID, r.ID
		x.ontology, x.moment, x.file, x.feedback = o.ID, mo.ID, f.ID, fb.ID
		x.populateRuns(t, s)
		list = append(list, x)
	}
	return list
}

// populateRuns begins runs in the caller's session, as the process p.
func (o *things) populateRuns(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, text := o.ctx(), o.String()
	o.run, o.waiting, o.ended, o.request = newID(), newID(), newID(), newID()
	for _, id := range []string{o.run, o.waiting, o.ended} {
		r := store.Run{ID: id, AgentName: text, Process: "p", Request: json.RawMessage(`{}`)}
		if id == o.run {
			r.Key = "key"
		}
		must(t, s.BeginRun(ctx, store.RunStart{Run: r, Session: store.Session{ID: o.session}}))
	}
	write(t, s, ctx, store.RunWrite{
		RunID: o.run, Events: []store.RunEvents{{First: 1, Last: 1, Data: []byte(text)}},
		Journal: []store.JournalEntry{{Data: json.RawMessage(`{"of":"` + text + `"}`)}},
	})
	write(t, s, ctx, store.RunWrite{RunID: o.waiting, Requests: []store.RunRequest{{ID: o.request, Kind: "approval", Message: text}}, Status: store.RunWaiting})
	must(t, s.PutRunHook(ctx, store.RunHook{RunID: o.waiting, ID: text, Data: json.RawMessage(`{}`)}, false))
	write(t, s, ctx, store.RunWrite{RunID: o.ended, Status: store.RunCompleted})
}
