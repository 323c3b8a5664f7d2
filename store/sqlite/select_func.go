package sqlite

import (
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// The functions that make SQLite's SELECTs return PostgreSQL's values. Their names begin
// with p8_; package sqlgate prints the calls.

// maxText bounds the results of functions that make long texts from short ones, in
// characters, as sqlgate does on PostgreSQL.
const maxText = 100_000

type (
	args   = []sqlite3.Value
	scalar = func(sqlite3.Context, args) error
)

// functions registers the functions; callers may see the texts of their errors.
func (s *selector) functions() error {
	var errs []error
	for _, list := range []map[string]scalar{textFunctions, jsonFunctions, timeFunctions, s.own()} {
		for spec, fn := range list {
			name, flags, n := spec, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, -1
			switch name {
			case "p8_greatest", "p8_least", "p8_concat", "p8_concat_ws", "p8_element", "p8_element_text", "p8_bool_string":
				// These handle NULL themselves.
			case "p8_tenant", "p8_user", "p8_owner", "p8_random":
				if n = 0; name == "p8_random" {
					flags = sqlite3.INNOCUOUS
				}
			default:
				fn = strict(fn)
			}
			errs = append(errs, s.db.CreateFunction(name, n, flags, func(c sqlite3.Context, a ...sqlite3.Value) {
				if err := fn(c, a); err != nil {
					c.ResultError(err)
				}
			}))
		}
	}
	return errors.Join(errs...)
}

// strict makes fn return NULL if an argument is NULL.
func strict(fn scalar) scalar {
	return func(c sqlite3.Context, a args) error {
		for _, v := range a {
			if v.Type() == sqlite3.NULL {
				return nil
			}
		}
		return fn(c, a)
	}
}

// own returns the functions that read the running SELECT's caller or context, and random().
func (s *selector) own() map[string]scalar {
	return map[string]scalar{
		"p8_tenant": func(c sqlite3.Context, _ args) error {
			c.ResultText(s.tenant)
			return nil
		},
		"p8_user": func(c sqlite3.Context, _ args) error {
			if s.user != "" {
				c.ResultText(s.user)
			}
			return nil
		},
		"p8_owner": func(c sqlite3.Context, _ args) error {
			c.ResultText(s.user)
			return nil
		},
		"p8_random": func(c sqlite3.Context, _ args) error {
			c.ResultFloat(rand.Float64())
			return nil
		},
		"p8_like": func(c sqlite3.Context, a args) error {
			escape := []rune(a[2].Text())
			text, pattern := a[0].Text(), a[1].Text()
			if a[3].Bool() {
				text, pattern = strings.ToLower(text), strings.ToLower(pattern)
			}
			ok, err := like(s.ctx, text, pattern, escape)
			c.ResultBool(ok)
			return err
		},
	}
}

// c1 sets the result to a text.
func c1(c sqlite3.Context, s string) error {
	c.ResultText(s)
	return nil
}
