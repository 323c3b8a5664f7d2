package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// reading is a method that reads a row of o. It returns the owners of all rows in the
// result; may says who may see o's.
type reading struct {
	call func(s *store.Store, ctx context.Context, o things) ([]string, error)
	may  func(c, o caller) bool
}

func readings() map[string]reading {
	list := map[string]reading{
		"Session": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			x, err := s.Session(ctx, o.session)
			return []string{x.Description}, err
		}, caller.owns},
		"Sessions": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, _, err := s.Sessions(ctx, store.SessionFilter{})
			return each(list, func(x store.Session) string { return x.Description }), err
		}, caller.owns},
		"Messages": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, err := s.Messages(ctx, o.session, store.MessageFilter{})
			return each(list, func(m store.Message) string { return *m.Content }), err
		}, caller.owns},
		"Message": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			return content(s.Message(ctx, o.message))
		}, caller.owns},
		"MessageBySeq": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			return content(s.MessageBySeq(ctx, o.session, 1))
		}, caller.owns},
		"Messages of a branch": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, err := s.Messages(ctx, o.session, store.MessageFilter{Branch: o.message})
			return each(list, func(m store.Message) string { return *m.Content }), err
		}, caller.owns},
		"FindMessage": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			m, _, err := s.FindMessage(ctx, o.session, o.message)
			return content(m, err)
		}, caller.owns},
		"Branches": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, err := s.Branches(ctx, o.session)
			if err != nil || len(list) == 0 || list[0].ID != o.message {
				return nil, err
			}
			return content(s.Message(ctx, list[0].ID))
		}, caller.owns},
		"Schema": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			d, err := s.Schema(ctx, o.schema)
			return []string{d.Content}, err
		}, caller.reads},
		// The reader's own row of the name hides the shared one.
		"Schemas": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, _, err := s.Schemas(ctx, store.SchemaFilter{})
			return each(list, func(d store.Schema) string { return d.Content }), err
		}, caller.owns},
		"SchemaHistory": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, err := s.SchemaHistory(ctx, o.schema, 0)
			return each(list, func(v store.SchemaVersion) string { return v.Content }), err
		}, caller.reads},
		"SchemaRevision": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			v, err := s.SchemaRevision(ctx, o.schema, fmt.Sprintf("%x", sha256.Sum256([]byte("{}"))))
			return []string{v.Content}, err
		}, caller.reads},
		"Users.Get": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			u, err := s.Users().Get(ctx)
			return []string{u.Content}, err
		}, caller.named},
		// Each user's profile names another zone.
		"Users.Zone": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			at, err := s.Users().Zone(ctx, slog.Default())
			return each(callers, func(c caller) string {
				if at == nil || c.zone() != at.String() {
					return ""
				}
				return c.String()
			}), err
		}, caller.named},
		"Select": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			rows, err := s.Select(ctx, `SELECT content FROM resources`, store.SelectBounds{})
			return each(rows.Rows, func(row []any) string { return fmt.Sprint(row[0]) }), err
		}, caller.reads},
		"Search": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			list, err := s.Search(ctx, store.SearchQuery{Text: "note", Hybrid: true})
			return each(list, summary), err
		}, caller.reads},
		"Load": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			rows, err := s.Load(ctx, store.Node{Type: store.TypeOntology, ID: o.ontology, TenantID: o.tenant})
			return each(rows, func(row json.RawMessage) string {
				var x store.Ontology
				_ = json.Unmarshal(row, &x)
				return x.Content
			}), err
		}, caller.reads},
		"Inward": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			links, err := s.Inward(ctx, []string{"hub"}, nil, 100)
			return each(links, func(l store.Link) string { return l.Relation }), err
		}, caller.reads},
		"Load private": {func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			rows, err := s.Load(ctx, store.Node{Type: store.TypeMoment, ID: o.moment, TenantID: o.tenant})
			return each(rows, func(row json.RawMessage) string {
				var x store.Moment
				_ = json.Unmarshal(row, &x)
				return x.Summary
			}), err
		}, caller.owns},
	}
	// The key index has private rows, shared ones and people.
	for name, may := range map[string]func(c, o caller) bool{
		"doc": caller.reads, "note": caller.reads, "page": caller.reads, "paper": caller.reads, "meeting": caller.owns, "me": caller.named,
	} {
		list["Lookup "+name] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			found, err := s.Lookup(ctx, name)
			return each(found, summary), err
		}, may}
		list["Fuzzy "+name] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			found, err := s.Fuzzy(ctx, name, 0.9, 100)
			return each(found, summary), err
		}, may}
		list["Nodes "+name] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			found, err := s.Nodes(ctx, []string{name})
			return each(found, func(n store.Node) string { return n.Summary }), err
		}, may}
	}
	addRunReadings(list)
	addMemoryReadings(list)
	addReadings(list, "Resources", (*store.Store).Resources, caller.reads, func(o things) string { return o.resource }, "note",
		func(x store.Resource) string { return x.Content })
	addReadings(list, "Ontologies", (*store.Store).Ontologies, caller.reads, func(o things) string { return o.ontology }, "page",
		func(x store.Ontology) string { return x.Content })
	addReadings(list, "Files", (*store.Store).Files, caller.reads, func(o things) string { return o.file }, "paper",
		func(x store.File) string { return x.ParsedContent })
	addReadings(list, "Moments", (*store.Store).Moments, caller.owns, func(o things) string { return o.moment }, "meeting",
		func(x store.Moment) string { return x.Summary })
	addReadings(list, "Feedback", (*store.Store).Feedback, caller.owns, func(o things) string { return o.feedback }, "",
		func(x store.Feedback) string { return x.Comment })
	return list
}

// addReadings adds the reading methods of a repository.
func addReadings[T any](list map[string]reading, prefix string, of func(*store.Store) store.Repository[T],
	may func(c, o caller) bool, id func(things) string, name string, text func(T) string,
) {
	list[prefix+".Get"] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		x, err := of(s).Get(ctx, id(o))
		return []string{text(x)}, err
	}, may}
	list[prefix+".ByName"] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		x, err := of(s).ByName(ctx, name)
		return []string{text(x)}, err
	}, caller.owns}
	list[prefix+".Find"] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		found, _, err := of(s).Find(ctx, store.Filter{IDs: []string{id(o)}})
		return each(found, text), err
	}, may}
	list[prefix+".Count"] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		found, _, err := of(s).Find(ctx, store.Filter{})
		if err != nil {
			return nil, err
		}
		if n, err := of(s).Count(ctx, store.Filter{}); err != nil || n != int64(len(found)) {
			return nil, fmt.Errorf("%d counted of %d: %v", n, len(found), err)
		}
		return each(found, text), nil
	}, may}
	if name == "" {
		delete(list, prefix+".ByName")
	}
}

func content(m store.Message, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	return []string{*m.Content}, nil
}

func summary(m store.Match) string { return m.Summary }

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
	readings, writings := readings(), writings()
	known := map[string]bool{
		"Feedback.ByName": true,                         // has no names
		"Leases.Take":     true, "Leases.Release": true, // see leases
		"Export": true, "Erasures.Begin": true, "Erasures.Get": true, "Erasures.Step": true, "Erasures.Finish": true, // see Erasures
		// see apiKeys, accounts and audit
		"APIKeys.Create": true, "APIKeys.List": true, "APIKeys.Revoke": true, "APIKeys.Logout": true,
		"Accounts.Add": true, "Accounts.List": true, "Accounts.SetPassword": true, "Accounts.Remove": true,
		"Audit": true, "AuditLog": true,
		"Usage":        true,                        // see usageReport
		"ListFeedback": true, "TracedMessage": true, // see listFeedback
		"SwitchBranch": true,                                                                                 // see branches
		"PutShare":     true, "Shares": true, "DeleteShare": true, "OpenShare": true, "SharedSessions": true, // see shares
		"Retentions.Set": true, "Retentions.Remove": true, "Retentions.List": true, // see retentions
		// See experiments and evaluations.
		"Experiments.Put": true, "Experiments.Get": true, "Experiments.List": true, "Experiments.Delete": true,
		"Evaluations.Begin": true, "Evaluations.Change": true, "Evaluations.Get": true, "Evaluations.List": true, "Evaluations.Delete": true,
		"Evaluations.PutResults": true, "Evaluations.Results": true,
		// See quotas and quotaUsage.
		"Quotas.Set": true, "Quotas.Remove": true, "Quotas.List": true, "Quotas.Standing": true, "Quotas.Count": true, "Quotas.Spend": true,
	}
	for name := range readings {
		known[strings.Fields(name)[0]] = true
	}
	for name := range methods(s) {
		if !known[name] && writings[name] == nil {
			t.Errorf("%s: no isolation test knows this method", name)
		}
	}
	for name, r := range readings {
		for _, reader := range callers {
			for _, owner := range all {
				seen, err := r.call(s, reader.ctx(), owner)
				what := fmt.Sprintf("%s of %s for %s", name, owner.caller, reader)
				if err != nil {
					seen = nil
				}
				for _, o := range callers {
					if slices.Contains(seen, o.String()) && !r.may(reader, o) {
						t.Errorf("%s shows rows of %s", what, o)
					}
				}
				if got := slices.Contains(seen, owner.String()); got != r.may(reader, owner.caller) {
					t.Errorf("%s: visible is %v, want %v (%v)", what, got, !got, err)
				}
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: %v, want %v", what, err, store.ErrNotFound)
				}
			}
		}
	}
}

// writing is a method that writes a row of o, and who may call it.
type writing struct {
	call    func(s *store.Store, ctx context.Context, o things) error
	allowed func(c, o caller) bool
	// same reports whether a call for a row of o is meant for the writer's own row.
	same func(c, o caller) bool
}

// The rows that a call means: only the caller's; or the row with the same id in the
// writer's tenant, because ids are made of name and user.
func never(c, o caller) bool   { return false }
func another(c, o caller) bool { return c.tenant != o.tenant && (o.user == "" || o.user == c.user) }

// differs: a session belongs to its owner, so another caller's id is free. sameSession
// checks the other session.
func (c caller) differs(o caller) bool { return c != o }

func changed(o things) *store.Message {
	return &store.Message{SessionID: o.session, Type: store.MessageAssistant, Content: text("changed")}
}

func writings() map[string]*writing {
	list := map[string]*writing{
		"BeginTurn": {func(s *store.Store, ctx context.Context, o things) error {
			return s.BeginTurn(ctx, store.Session{ID: o.session, Description: "changed"}, changed(o))
		}, caller.owns, caller.differs},
		"Append": {func(s *store.Store, ctx context.Context, o things) error {
			return s.Append(ctx, changed(o))
		}, caller.owns, never},
		"FinishTurn": {func(s *store.Store, ctx context.Context, o things) error {
			return s.FinishTurn(ctx, changed(o), "changed")
		}, caller.owns, never},
		"DeleteSession": {func(s *store.Store, ctx context.Context, o things) error {
			return s.DeleteSession(ctx, o.session)
		}, caller.owns, never},
		"PutSchema": {func(s *store.Store, ctx context.Context, o things) error {
			return s.PutSchema(ctx, &store.Schema{ID: o.schema, Name: "doc", Content: "changed", Shared: o.user == ""})
		}, caller.reads, another},
		"DeleteSchema": {func(s *store.Store, ctx context.Context, o things) error {
			return s.DeleteSchema(ctx, o.schema)
		}, caller.reads, another},
		"Users.Put": {func(s *store.Store, ctx context.Context, o things) error {
			return s.Users().Put(ctx, &store.User{ID: o.user, Name: "me", Content: "changed"})
		}, caller.named, func(c, o caller) bool { return c != o && (o.user == "" || o.user == c.user) }},
		"Users.Update": {func(s *store.Store, ctx context.Context, o things) error {
			_, err := s.Users().Update(ctx, store.UserChange{Set: json.RawMessage(`{"changed":true}`)})
			return err
		}, caller.named, func(c, o caller) bool { return c != o }},
		"Users.Delete": {func(s *store.Store, ctx context.Context, o things) error {
			return s.Users().Delete(ctx)
		}, caller.named, func(c, o caller) bool { return c != o }},
		"PutDocuments": {func(s *store.Store, ctx context.Context, o things) error {
			return s.PutDocuments(ctx, &store.Document{File: &store.File{
				Base: o.base(o.file), Name: "paper", URI: "file:///paper", ParsedContent: "changed",
			}})
		}, caller.reads, another},
	}
	addRunWritings(list)
	addMemoryWritings(list)
	addWritings(list, "Resources", (*store.Store).Resources, caller.reads, func(o things) (string, store.Resource) {
		return o.resource, store.Resource{Base: o.base(o.resource), Name: "note", Content: "changed"}
	})
	addWritings(list, "Ontologies", (*store.Store).Ontologies, caller.reads, func(o things) (string, store.Ontology) {
		return o.ontology, store.Ontology{Base: o.base(o.ontology), Name: "page", Content: "changed"}
	})
	addWritings(list, "Files", (*store.Store).Files, caller.reads, func(o things) (string, store.File) {
		return o.file, store.File{Base: o.base(o.file), Name: "paper", ParsedContent: "changed"}
	})
	addWritings(list, "Moments", (*store.Store).Moments, caller.owns, func(o things) (string, store.Moment) {
		return o.moment, store.Moment{Base: o.base(o.moment), Name: "meeting", Summary: "changed"}
	})
	addWritings(list, "Feedback", (*store.Store).Feedback, caller.owns, func(o things) (string, store.Feedback) {
		return o.feedback, store.Feedback{Base: o.base(o.feedback), Comment: "changed"}
	})
	return list
}

// addWritings adds the writing methods of a repository.
func addWritings[T any](list map[string]*writing, prefix string, of func(*store.Store) store.Repository[T],
	allowed func(c, o caller) bool, row func(things) (string, T),
) {
	list[prefix+".Put"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		_, x := row(o)
		return of(s).Put(ctx, &x)
	}, allowed, another}
	list[prefix+".PutWith"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		_, x := row(o)
		return of(s).PutWith(ctx, store.PutOptions{Merge: true}, &x)
	}, allowed, another}
	list[prefix+".Delete"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		id, _ := row(o)
		return of(s).Delete(ctx, id)
	}, allowed, another}
}

// snapshot returns everything that a caller reads of its own rows.
func snapshot(s *store.Store, o things) string {
	ctx, readings := o.ctx(), readings()
	out := ""
	for _, name := range []string{
		"Session", "Messages", "Schema", "Users.Get", "Resources.Get", "Ontologies.Get", "Files.Get", "Moments.Get", "Feedback.Get",
	} {
		seen, err := readings[name].call(s, ctx, o)
		out += fmt.Sprintln(name, seen, err)
	}
	sess, _ := s.Session(ctx, o.session)
	user, _ := s.Users().Get(ctx)
	return out + sess.Name + fmt.Sprint(sess.Messages) + string(user.Metadata) + runSnapshot(s, ctx)
}

// isolationOfWrites starts each writer of each method with the same rows.
func isolationOfWrites(t *testing.T, fork Fork) {
	var all []things
	before := make(map[caller]string)
	filled := fork(t, func(s *store.Store) {
		all = populate(t, s)
		for _, o := range all {
			before[o.caller] = snapshot(s, o)
		}
	})
	for name, w := range writings() {
		for _, writer := range callers {
			s := filled()
			touched := make(map[caller]bool)
			for _, o := range all {
				if w.same(writer, o.caller) {
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
				case err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrConflict):
					t.Errorf("%s of %s by %s: %v, want %v", name, o.caller, writer, err, store.ErrNotFound)
				}
			}
			for _, o := range all {
				after := snapshot(s, o)
				if got := after != before[o.caller]; got != touched[o.caller] {
					t.Errorf("%s by %s: rows of %s changed: %v, want %v\nbefore: %s\nafter: %s",
						name, writer, o.caller, got, touched[o.caller], before[o.caller], after)
				}
			}
		}
	}
}
