package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// parameters are those of an operation.
type parameters struct {
	schemas huma.Registry
	list    []parameter
}

// parameter is a field of an operation's input.
type parameter struct {
	*huma.Param
	index    []int
	standard string // the value if it is absent
}

// parameters adds the parameters of type in to an operation.
func (a *API) parameters(op *huma.Operation, in reflect.Type) parameters {
	p := parameters{schemas: a.schemas()}
	for _, f := range reflect.VisibleFields(in) {
		param := &huma.Param{Name: f.Tag.Get("path"), In: "path", Required: true}
		if param.Name == "" {
			param = &huma.Param{Name: f.Tag.Get("query"), In: "query", Required: f.Tag.Get("required") == "true", Explode: new(bool)}
		}
		if param.Name == "" {
			continue
		}
		param.Schema = huma.SchemaFromField(p.schemas, f, "")
		param.Description = param.Schema.Description
		op.Parameters = append(op.Parameters, param)
		p.list = append(p.list, parameter{param, f.Index, f.Tag.Get("default")})
	}
	return p
}

// read sets the fields of an input. Its error is a Problem, which names each wrong
// parameter with its value.
func (p parameters) read(r *http.Request, into reflect.Value) error {
	var wrong huma.ValidateResult
	at := huma.NewPathBuffer(nil, 0)
	query := r.URL.Query()
	for _, param := range p.list {
		at.Reset()
		at.Push(param.In)
		at.Push(param.Name)
		text := param.text(r, query)
		if text == "" {
			if param.Required {
				wrong.Add(at, "", "required "+param.In+" parameter is missing")
			}
			continue
		}
		value, err := set(into.FieldByIndex(param.index), text)
		if err != nil {
			wrong.Add(at, text, err.Error())
			continue
		}
		huma.Validate(p.schemas, param.Schema, at, huma.ModeWriteToServer, value, &wrong)
	}
	if len(wrong.Errors) > 0 {
		return invalid(wrong.Errors)
	}
	return nil
}

func (p parameter) text(r *http.Request, query url.Values) string {
	text := r.PathValue(p.Name)
	if p.In == "query" {
		text = query.Get(p.Name)
	}
	if text == "" {
		return p.standard
	}
	return text
}

// set parses a text into a field and returns the value.
func set(f reflect.Value, text string) (any, error) {
	switch f.Interface().(type) {
	case string:
		f.SetString(text)
	case int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("invalid integer")
		}
		f.SetInt(int64(n))
	case bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("invalid boolean")
		}
		f.SetBool(b)
	case []string:
		f.Set(reflect.ValueOf(strings.Split(text, ",")))
	default:
		return nil, fmt.Errorf("a parameter cannot be of type %s", f.Type())
	}
	return f.Interface(), nil
}

// invalid is the problem of parameters.
func invalid(errs []error) *problem.Problem {
	p := &problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_value"}
	var all []string
	for _, err := range errs {
		var d *huma.ErrorDetail
		if !errors.As(err, &d) {
			d = &huma.ErrorDetail{Message: err.Error()}
		}
		p.Details = append(p.Details, d)
		_, name, _ := strings.Cut(d.Location, ".")
		if value := fmt.Sprint(d.Value); value != "" {
			name += " is " + web.Cut(value)
		}
		all = append(all, name+": "+d.Message)
	}
	p.Message = strings.Join(all, "; ")
	return p
}
