package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/store"
)

// guard is a api.Privacy that knows who was deleted.
type guard struct {
	deleted string
	// cut ends an export after its first part.
	cut bool
}

func (g *guard) Export(ctx context.Context, w io.Writer) error {
	id, err := identity.From(ctx)
	if err != nil || id.Anonymous() {
		return errors.Join(err, store.ErrForbidden)
	}
	if _, err := io.WriteString(w, `{"export":"p8","user_id":"`+id.UserID+`"}`+"\n"); err != nil {
		return err
	}
	if g.cut {
		return &store.Failure{Op: "export", Err: errors.New("secret path")}
	}
	_, err = io.WriteString(w, `{"end":true}`+"\n")
	return err
}

func (g *guard) Begin(ctx context.Context) (store.Erasure, error) {
	id, err := identity.From(ctx)
	if err != nil || id.Anonymous() {
		return store.Erasure{}, errors.Join(err, store.ErrForbidden)
	}
	g.deleted = id.TenantID + "/" + id.UserID
	return store.Erasure{ID: "e1", UserID: id.UserID, RequestedAt: created}, nil
}

func (g *guard) Status(context.Context) (store.Erasure, error) {
	if g.deleted == "" {
		return store.Erasure{}, store.ErrNotFound
	}
	return store.Erasure{ID: "e1", UserID: "ann", RequestedAt: created, FinishedAt: created, Rows: 7}, nil
}

func TestOwnData(t *testing.T) {
	g := &guard{}
	s := newServer(t, setup{})
	s.Handler = api.New(api.Options{Chat: newFake(), Catalog: s.catalog, TrustHeaders: true, Privacy: g, Store: listing{f: newFake()}, Now: now, NewID: counter("request-%d"), Logger: slog.New(slog.DiscardHandler)})
	do := func(method, path, user string) *httptest.ResponseRecorder {
		r := request(method, path, "")
		if user != "" {
			r.Header.Set("X-User-Id", user)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		method, path, user string
		status             int
		says               string
	}{
		{"GET", "/me/export", "", 403, "forbidden"},
		{"DELETE", "/me", "", 403, "forbidden"},
		{"GET", "/me/deletion", "ann", 404, "no such deletion"},
		{"DELETE", "/me", "ann", 400, "confirm=ann"},
		{"DELETE", "/me?confirm=true", "ann", 400, "confirm=ann"},
		{"DELETE", "/me?confirm=ann", "bob", 400, "confirm=bob"},
		{"POST", "/me", "ann", 405, ""},
		{"GET", "/v1/me/export", "ann", 200, `"user_id":"ann"`},
	} {
		w := do(c.method, c.path, c.user)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s of %q: %d %s", c.method, c.path, c.user, w.Code, w.Body)
		}
	}
	if g.deleted != "" {
		t.Errorf("%s was deleted without a confirmation", g.deleted)
	}
	w := do("DELETE", "/me?confirm=ann", "ann")
	if w.Code != http.StatusAccepted || w.Header().Get("Location") != "/me/deletion" || !strings.Contains(w.Body.String(), `"status":"running"`) || g.deleted != "default/ann" {
		t.Errorf("%d %s %s; %s", w.Code, w.Header(), w.Body, g.deleted)
	}
	if w := do("GET", "/me/deletion", "ann"); w.Code != 200 || !strings.Contains(w.Body.String(), `"status":"finished"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client cannot take an export that failed in the middle for a whole one.
func TestExportIsCut(t *testing.T) {
	s := newServer(t, setup{})
	s.Handler = api.New(api.Options{Chat: newFake(), Catalog: s.catalog, TrustHeaders: true, Privacy: &guard{cut: true}, Store: listing{f: newFake()}, Logger: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(s)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/me/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-User-Id", "ann")
	res, err := server.Client().Do(r)
	if err != nil {
		return // the connection was cut before the first byte
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil || strings.Contains(string(body), "secret") {
		t.Errorf("%q, %v", body, err)
	}
}
