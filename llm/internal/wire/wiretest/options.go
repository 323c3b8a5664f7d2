package wiretest

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
)

// Env is an environment of variables.
type Env map[string]string

// Get returns the variable's value.
func (e Env) Get(name string) string { return e[name] }

// Set replaces the variables: "A=1 B=2".
func (e Env) Set(variables string) {
	clear(e)
	for kv := range strings.FieldsSeq(variables) {
		name, value, _ := strings.Cut(kv, "=")
		e[name] = value
	}
}

// Hint fails the test unless err is of the kind and has a hint; the kind "" is for no
// error. made is the object under test.
func Hint(t testing.TB, made any, err error, kind llm.ErrorKind, hint string) {
	t.Helper()
	var e *llm.Error
	switch {
	case hint == "":
		if err != nil {
			t.Errorf("%v: %v", made, err)
		}
	case !errors.As(err, &e) || e.Kind != kind || e.Hint != hint:
		t.Errorf("%v: got %v, want %s", made, err, hint)
	}
}

// NoLeaks looks for the key in a printed model and its options, in the error of its
// connection, which must fail, and in the other values.
func NoLeaks(t *testing.T, key string, m llm.Model, options any, values ...any) {
	t.Helper()
	_, failed := Collect(t.Context(), m, Hello())
	if failed == nil {
		t.Fatal("somebody answers")
	}
	cause := errors.Unwrap(failed)
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "model", m, "options", options, "err", failed, "cause", cause)
	texts := []string{logged.String(), m.Name(), fmt.Sprint(m)}
	for _, v := range append(values, options, failed, cause) {
		texts = append(texts, fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v))
	}
	for _, s := range texts {
		if strings.Contains(s, key) {
			t.Errorf("the key is in %s", s)
		}
	}
}
