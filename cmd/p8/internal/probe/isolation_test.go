package probe

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestNobodySeesAnothers: every person reads their own rows by every surface, and nobody else
// reads, changes or notices them by any.
func TestNobodySeesAnothers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.plant(t)
		w.tables(t)
		w.all(t, "finds nothing of their own", w.people, (*spy).owns)
		w.all(t, "", w.people, func(s *spy) { s.attacks(reads, harms, bare) })
		w.all(t, "", w.people, func(s *spy) { s.attacks(talks) })
		w.all(t, "", w.people, (*spy).listens)
		w.guests(t)
		w.subscribes(t)
		w.pushes(t)
		if harness.Count(t, 0, 1) > 0 {
			w.all(t, "was harmed", w.people, (*spy).owns)
		}
		acme, globex := w.people[:len(w.people)/2], w.people[len(w.people)/2:]
		w.all(t, "", acme, (*spy).destroys)
		w.all(t, "was harmed", globex, (*spy).owns)
		w.all(t, "", globex, (*spy).destroys)
		w.pushed(t)
		t.Logf("%s: %d surfaces × %d people, %d requests", w.engine, len(surfaces), len(w.people), w.requests.Load())
	})
}

// plant gives everybody a row of every kind.
func (w *world) plant(t *testing.T) {
	for i, p := range w.people {
		(&planter{t, w, p}).plant(i + 1)
	}
	w.fired(t)
	w.none = ghost(w.people[0].vars)
}

// spy is a person who tries everything.
type spy struct {
	*testing.T
	w *world
	p *person
	// what went wrong.
	what string
}

// all does something as each of the people, at once.
func (w *world) all(t *testing.T, what string, people []*person, do func(*spy)) {
	t.Helper()
	var at sync.WaitGroup
	for _, p := range people {
		at.Go(func() { do(&spy{t, w, p, what}) })
	}
	at.Wait()
	if t.Failed() && what == "finds nothing of their own" {
		t.FailNow()
	}
}

// try sends a surface's request about the rows that vars name.
func (s *spy) try(at *surface, vars map[string]string) answer {
	s.Helper()
	got := s.w.as(s, s.p, at.filled(vars))
	if seen := s.p.sees(s.w.people, got.body+fmt.Sprint(got.header)); seen != nil {
		s.Errorf("%s sees %s: %s %s %s: %d %.1500s", s.p, seen, at.covers, at.path, at.body, got.status, got.body)
	}
	if got.status >= 500 {
		s.Errorf("%s: %s %s: %d %.600s", s.p, at.path, at.body, got.status, got.body)
	}
	return got
}

// owns reads the person's own rows by each surface.
func (s *spy) owns() {
	for i := range surfaces {
		at := &surfaces[i]
		if at.wants == "" || at.kind != reads && at.kind != streams || s.p.without(at.wants) {
			continue
		}
		got := s.try(at, s.p.vars)
		if want := at.filled(s.p.vars).wanted(at, s.p); got.status != 200 || !strings.Contains(got.body, want) {
			s.Errorf("%s %s: %s %s %s: %d, without %q: %.1500s", s.p, s.what, at.covers, at.path, at.body, got.status, want, got.body)
		}
	}
}

// wanted is what the owner finds.
func (request) wanted(at *surface, p *person) string {
	return request{path: at.wants}.filled(p.vars).path
}

// without reports whether the person has nothing of a kind.
func (p *person) without(wants string) bool {
	switch wants {
	case "{canary:profile}", "{me}", "{share}", "{canary:link}":
		return p.user == ""
	case "{canary:key}":
		return p.user == "" // a service's key is an admin's
	case "{canary:account}", "{canary:audited}":
		return p.role != "admin"
	case "{canary:quota}":
		return !p.administers()
	}
	return false
}

// attacks tries the surfaces of some kinds on each of the others.
func (s *spy) attacks(kinds ...kind) {
	// In the short form, all spy on one of the people, another one for each surface.
	few := harness.Count(s, 1, len(s.w.people))
	for i := range surfaces {
		at := &surfaces[i]
		if !slices.Contains(kinds, at.kind) {
			continue
		}
		if !strings.Contains(strings.ReplaceAll(fmt.Sprint(at.request), "{my:mcp}", ""), "{") || at.kind == bare {
			if at.kind != reads {
				s.try(at, nil)
			}
			continue // as an owner
		}
		// As if the row did not exist: that is the same for all the others.
		want := at.plain(s.try(at, s.w.none), s.w.none)
		for n, o := range s.w.people {
			if d := (n + i) % len(s.w.people); o != s.p && (d == 0 || at.kind != talks && d < few) {
				s.attack(at, o, want)
			}
		}
	}
}

// attack tries a surface on a row of another. want is the answer where there is no row.
func (s *spy) attack(at *surface, o *person, want string) {
	theirs := at.filled(o.vars)
	for _, own := range s.w.people {
		// The ids of the same user in another tenant are the same: they name rows of the spy's own, or
		// of the spy's tenant.
		if own != o && own.tenant == s.p.tenant && (own == s.p || own.user == "") && fmt.Sprint(theirs) == fmt.Sprint(at.filled(own.vars)) {
			return
		}
	}
	whole := o.tenant == s.p.tenant && (o.user == "" && at.shares() || s.p.administers() && at.manages())
	if whole && at.kind == harms {
		return // it depends on the role
	}
	if got := at.plain(s.try(at, o.vars), o.vars); got != want && !whole && !strings.Contains(at.body, "{hint}") {
		s.Errorf("%s notices a row of %s: %s %s %s:\n%.800s\nbut where there is none:\n%.800s", s.p, o, at.covers, theirs.path, theirs.body, got, want)
	}
}

// shares reports whether the surface is about a row that a whole tenant may have.
func (at *surface) shares() bool {
	_, place, _ := strings.Cut(strings.TrimSuffix(at.wants, "}"), ":")
	return tenants[place] || strings.Contains(at.path+at.body, "{agent}") || strings.Contains(at.path, "{schema}")
}

// listens opens the streams without an end after what another was sent, until the person's own
// next alarm.
func (s *spy) listens() {
	x := &planter{s.T, s.w, s.p}
	x.must("POST", "/reminders", object("name", "wake again", "description", x.text("alarm"), "crontab", time.Now().Add(5*time.Second).UTC().Format(time.RFC3339)))
	var all sync.WaitGroup
	for _, o := range s.w.people {
		if o != s.p {
			all.Go(func() {
				s.try(&surface{streams, "GET /notifications", request{method: "GET", path: "/notifications?after=" + o.vars["notification"], until: s.p.canary("alarm")}, ""}, nil)
			})
		}
	}
	all.Wait()
}

// owned reports whether the surface is about what nobody without a user has.
func (at *surface) owned() bool {
	return strings.Contains(at.path, "{account}") || strings.Contains(at.path, "{share}") || strings.Contains(at.path, "/shares")
}

// manages reports whether the surface is about what admins of the tenant manage.
func (at *surface) manages() bool {
	return strings.Contains(at.path+at.body, "{apikey}") || strings.Contains(at.path, "{account}")
}

// destroys changes and deletes the person's own rows: the requests that harmed nobody else
// were right.
func (s *spy) destroys() {
	if s.p.role == "reader" {
		return
	}
	none := ghost(ghost(s.p.vars))
	for i := range surfaces {
		at := &surfaces[i]
		if at.kind != harms || s.p.user == "" && at.owned() || at.manages() && s.p.role != "admin" {
			continue
		}
		missing := at.plain(s.try(at, none), none)
		if got := s.try(at, s.p.vars); at.plain(got, s.p.vars) == missing {
			s.Errorf("%s: the owner's own %s %s %s is refused as if there were no such row, so the probe proves nothing: %d %.600s", s.p, at.covers, at.filled(s.p.vars).path, at.body, got.status, got.body)
		}
	}
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9A-Z]{26}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|"(?:took|created|timestamp|created_at|latency_ms)":\d+`)
)

// plain is an answer without what differs from request to request. What the model says depends
// on the turns before.
func (at *surface) plain(a answer, vars map[string]string) string {
	text := a.body
	if at.kind == talks && a.status < 400 {
		return fmt.Sprint(a.status)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if len(vars[name]) > 5 && !strings.Contains(name, ":") {
			text = strings.ReplaceAll(text, vars[name], "ID")
		}
	}
	text = times.ReplaceAllString(ids.ReplaceAllString(text, "ID"), "TIME")
	return fmt.Sprint(a.status, " ", text)
}
