package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/p8-org/p8/internal/tree"
)

// field holds the tags of a struct field.
type field struct {
	key, alias, doc string
	index           int
	typ             reflect.Type
	enum            []string
	// open enums name the usual values and allow others.
	open, required bool
	// schema fields belong to the JSON Schema part, in both dialects.
	schema bool
	// bare names the field that a plain string sets.
	bare     string
	min, max string
	// like is the definition that a value of any form follows.
	like string
}

type layout struct {
	fields []field
	byKey  map[string]*field
	keys   []string
}

// layouts holds the fields of every struct in a document.
var layouts = sync.OnceValue(func() map[reflect.Type]*layout {
	all := map[reflect.Type]*layout{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Fields](), reflect.TypeFor[ToolRef](), reflect.TypeFor[Resource](), reflect.TypeFor[AgentRef](),
		reflect.TypeFor[ProviderConfig](), reflect.TypeFor[Limits](), reflect.TypeFor[History](), reflect.TypeFor[ApprovalRule](),
		reflect.TypeFor[Routing](), reflect.TypeFor[Prediction](),
	} {
		all[t] = newLayout(t)
	}
	return all
})

func newLayout(t reflect.Type) *layout {
	l := &layout{byKey: map[string]*field{}}
	for i := range t.NumField() {
		sf := t.Field(i)
		key, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		f := field{
			key: key, alias: sf.Tag.Get("alias"), doc: sf.Tag.Get("doc"), index: i, typ: sf.Type,
			open: sf.Tag.Get("open") != "", required: sf.Tag.Get("required") != "", schema: sf.Tag.Get("schema") != "",
			bare: sf.Tag.Get("bare"), min: sf.Tag.Get("min"), max: sf.Tag.Get("max"), like: sf.Tag.Get("like"),
		}
		if enum := sf.Tag.Get("enum"); enum != "" {
			f.enum = strings.Split(enum, ",")
		}
		l.fields = append(l.fields, f)
	}
	for i := range l.fields {
		f := &l.fields[i]
		l.byKey[f.key] = f
		l.keys = append(l.keys, f.key)
		if f.alias != "" {
			l.byKey[f.alias] = f
		}
	}
	return l
}

// decode reads a mapping into a struct. It warns about keys that neither the struct
// nor known has.
func (r *report) decode(n *node, pointer string, v reflect.Value, known func(string) bool) {
	l := layouts()[v.Type()]
	for _, m := range n.Members {
		f := l.byKey[m.Key]
		at := tree.Child(pointer, m.Key)
		switch {
		case f == nil:
			if known == nil || !known(m.Key) {
				r.unknownKey(m, at, l.keys)
			}
		case m.Key == f.alias && n.Get(f.key) != nil:
			if n.Get(f.key).Str() != m.Value.Str() {
				r.warnf(m.Pos, at, "keep one of them", "%s and %s are one key; %s counts", f.alias, f.key, f.key)
			}
		default:
			r.set(m.Value, at, f, v.Field(f.index))
		}
	}
	for _, f := range l.fields {
		if f.required && v.Field(f.index).IsZero() && n.Get(f.key) == nil {
			r.errorf(n.Pos, pointer, "add "+f.key, "%s is missing", f.key)
		}
	}
}

func (r *report) unknownKey(m member, pointer string, known []string) {
	if strings.HasPrefix(m.Key, "x-") || strings.HasPrefix(m.Key, "x_") {
		return
	}
	hint := didYouMean(m.Key, known)
	if hint == "" {
		hint = "it is kept, but means nothing here"
	}
	r.warnf(m.Pos, pointer, hint, "unknown key %q", clip(m.Key, 60))
}

// set reads one value into one field; null leaves it unset.
func (r *report) set(n *node, pointer string, f *field, v reflect.Value) {
	if n.Kind == null {
		return
	}
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes(n.AppendJSON(nil))
		return
	case Approval:
		r.setApproval(n, pointer, f, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		r.set(n, pointer, f, elem.Elem())
		v.Set(elem)
	case reflect.String:
		r.setString(n, pointer, f, v)
	case reflect.Bool:
		if n.Kind != boolean {
			r.mismatch(n, pointer, f, "true or false", "write true or false, without quotes")
			return
		}
		v.SetBool(n.Text == "true")
	case reflect.Int, reflect.Float64:
		r.setNumber(n, pointer, f, v)
	case reflect.Slice:
		r.setSlice(n, pointer, f, v)
	case reflect.Map:
		r.setTexts(n, pointer, f, v)
	case reflect.Struct:
		if n.Kind != object {
			r.mismatch(n, pointer, f, "a mapping", "write its keys below it, such as "+layouts()[v.Type()].keys[0]+": …")
			return
		}
		r.decode(n, pointer, v, nil)
	}
}

func (r *report) setString(n *node, pointer string, f *field, v reflect.Value) {
	if n.Kind != text {
		hint := "write one text; if it is long, below a |"
		if n.Kind == number || n.Kind == boolean {
			hint = fmt.Sprintf("put it in quotes: %s: %q", f.key, n.Text)
		}
		r.mismatch(n, pointer, f, "a string", hint)
		return
	}
	if len(f.enum) > 0 && !slices.Contains(f.enum, n.Text) {
		hint := cmp.Or(didYouMean(n.Text, f.enum), "one of "+strings.Join(f.enum, ", "))
		if f.open {
			r.warnf(n.Pos, pointer, hint, "%s %q is not a usual value", f.key, clip(n.Text, 60))
		} else {
			r.errorf(n.Pos, pointer, hint, "%s cannot be %q", f.label(pointer), clip(n.Text, 60))
			return
		}
	}
	if f.required && n.Text == "" {
		r.errorf(n.Pos, pointer, "write a name", "%s is empty", f.key)
	}
	v.SetString(n.Text)
}

func (r *report) setNumber(n *node, pointer string, f *field, v reflect.Value) {
	whole := v.Kind() == reflect.Int
	what, hint := "a number", "write one such as 0.5, without a unit"
	if whole {
		what, hint = "a whole number", "write one such as 10, without a unit"
	}
	number64, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != number || err != nil || whole && (number64 != float64(int(number64)) || number64 > 1<<53 || number64 < -1<<53) {
		if n.Kind == text && err == nil {
			hint = "leave the quotes out"
		}
		r.mismatch(n, pointer, f, what, hint)
		return
	}
	low, lowErr := strconv.ParseFloat(f.min, 64)
	high, highErr := strconv.ParseFloat(f.max, 64)
	switch {
	case lowErr == nil && number64 < low && whole:
		r.errorf(n.Pos, pointer, "leave it out for no limit", "%s must be at least %s, not %s", f.label(pointer), f.min, n.Text)
	case lowErr == nil && number64 < low, highErr == nil && number64 > high:
		r.errorf(n.Pos, pointer, fmt.Sprintf("write a number from %s to %s", f.min, f.max), "%s must be between %s and %s, not %s", f.key, f.min, f.max, n.Text)
	case whole:
		v.SetInt(int64(number64))
	default:
		v.SetFloat(number64)
	}
}

func (r *report) setSlice(n *node, pointer string, f *field, v reflect.Value) {
	if n.Kind != array {
		hint := "write a list: begin each entry with a dash"
		if n.Kind == text {
			hint = fmt.Sprintf("write a list: [%s]", clip(n.Text, 40))
		}
		r.mismatch(n, pointer, f, "a list", hint)
		return
	}
	elem := v.Type().Elem()
	l := layouts()[elem]
	for i, item := range n.Items {
		at, e := tree.Element(pointer, i), reflect.New(elem).Elem()
		switch {
		case l == nil:
			r.set(item, at, &field{key: "an entry of " + f.key}, e)
		case item.Kind == text && f.bare != "":
			bare := l.byKey[f.bare]
			r.set(item, at, bare, e.Field(bare.index))
		case item.Kind != object:
			r.mismatch(item, at, &field{key: "an entry of " + f.key}, "a mapping", "write - name: …")
			continue
		default:
			r.decode(item, at, e, nil)
		}
		v.Set(reflect.Append(v, e))
	}
}

func (r *report) mismatch(n *node, pointer string, f *field, want, hint string) {
	have := n.Kind.String()
	if n.Kind == number {
		have = n.Text
	}
	r.errorf(n.Pos, pointer, hint, "%s must be %s, not %s", f.label(pointer), want, have)
}

// label returns the field's name in messages, with its mapping:
// limits.request_limit.
func (f *field) label(pointer string) string {
	path := strings.Split(pointer, "/")
	if len(path) > 2 && path[len(path)-1] == f.key {
		if in := path[len(path)-2]; in != extraKey && strings.Trim(in, "0123456789") != "" {
			return in + "." + f.key
		}
	}
	return f.key
}
