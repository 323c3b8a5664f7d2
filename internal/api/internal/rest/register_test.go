package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/api/internal/problem"
)

type input struct {
	ID    string   `path:"id" maxLength:"5"`
	Limit int      `query:"limit" minimum:"1" default:"50"`
	All   bool     `query:"all"`
	Tags  []string `query:"tags" maxItems:"2"`
	Mode  string   `query:"mode" enum:"a,b" required:"true"`
}

type output struct {
	Status int
	Link   string `header:"Link"`
	Body   *input
}

func TestRegister(t *testing.T) {
	mux := &Mux{}
	api := New(Options{Mux: mux, Logger: slog.New(slog.DiscardHandler)})
	var got input
	var answer *output
	var fails error
	Register(api, Operation("get", http.MethodGet, "/things/{id}", ""), func(_ context.Context, in *input) (*output, error) {
		got = *in
		return answer, fails
	})
	Register(api, Operation("delete", http.MethodDelete, "/things/{id}", ""), func(context.Context, *struct {
		ID string `path:"id"`
	}) (*struct{}, error) {
		return &struct{}{}, nil
	})
	for _, c := range []struct {
		name, target string
		answer       *output
		fails        error
		status       int
		want         input
		body         string
	}{
		{"all of them", "/things/a%20b?limit=3&all=true&tags=x,y&mode=b", &output{Body: &got, Link: "<n>"}, nil, 200, input{"a b", 3, true, []string{"x", "y"}, "b"}, `"Tags":["x","y"]`},
		{"defaults", "/things/x?mode=a", &output{Status: 202, Body: &got}, nil, 202, input{ID: "x", Limit: 50, Mode: "a"}, `"Limit":50`},
		{"no answer", "/things/x?mode=a", nil, nil, 204, input{ID: "x", Limit: 50, Mode: "a"}, ""},
		{"an error", "/things/x?mode=a", nil, problem.Missing("thing"), 501, input{ID: "x", Limit: 50, Mode: "a"}, "this server has no thing"},
		{"an error of no client", "/things/x?mode=a", nil, errors.New("secret"), 500, input{ID: "x", Limit: 50, Mode: "a"}, `"code":"internal`},
		{"wrong", "/things/abcdef?limit=0&all=2&tags=x,y,z&mode=c", nil, nil, 422, input{}, "id is abcdef: expected length <= 5; limit is 0: expected number >= 1; all is 2: invalid boolean; tags is [x y z]: "},
		{"missing", "/things/x?limit=1.5", nil, nil, 422, input{}, "limit is 1.5: invalid integer; mode: required query parameter is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, answer, fails = input{}, c.answer, c.fails
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.target, nil))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || c.body == "" && w.Body.Len() > 0 {
				t.Errorf("status %d, not %d; body %s", w.Code, c.status, w.Body)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if c.answer != nil && w.Header().Get("Link") != c.answer.Link {
				t.Errorf("the header Link is %q", w.Header().Get("Link"))
			}
		})
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/things/x", nil))
	if w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Errorf("status %d, body %s", w.Code, w.Body)
	}
}
