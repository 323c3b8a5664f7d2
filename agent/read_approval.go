package agent

import (
	"cmp"
	"path"
	"reflect"

	"github.com/p8-org/p8/internal/schema"
)

// setApproval reads always, never or a list of rules.
func (r *report) setApproval(n *node, pointer string, f *field, v reflect.Value) {
	const want = "always, never or a list of rules"
	var a Approval
	switch {
	case n.kind == text && n.text == approvalNever:
	case n.kind == text && n.text == approvalAlways:
		a.Always = true
	case n.kind == text:
		hint := cmp.Or(didYouMean(n.text, []string{approvalAlways, approvalNever}), "write "+want)
		r.errorf(n.pos, pointer, hint, "%s cannot be %q", f.key, clip(n.text, 60))
	case n.kind == array && len(n.items) == 0:
		r.errorf(n.pos, pointer, "write never, or a rule", "%s has no rules", f.key)
	case n.kind == array:
		r.setSlice(n, pointer, f, reflect.ValueOf(&a.Rules).Elem())
		for i, item := range n.items {
			r.checkRule(item, element(pointer, i))
		}
	case n.kind == object:
		r.mismatch(n, pointer, f, want, "write a list: begin each rule with a dash")
	default:
		r.mismatch(n, pointer, f, want, "write always or never")
	}
	v.Set(reflect.ValueOf(a))
}

// checkRule refuses empty rules and invalid patterns.
func (r *report) checkRule(n *node, pointer string) {
	if n.kind != object {
		return
	}
	name, arguments := n.get("name"), n.get("arguments")
	if (name == nil || name.kind == null) && (arguments == nil || arguments.kind == null) {
		r.errorf(n.pos, pointer, "add name or arguments, or write always in place of the rules", "the rule says nothing")
		return
	}
	if _, err := path.Match(name.str(), ""); err != nil {
		r.errorf(name.pos, child(pointer, "name"), "close the [", "the name %q is no pattern", clip(name.text, 60))
	}
	if name != nil && name.kind == text && name.text == "" {
		r.errorf(name.pos, child(pointer, "name"), "write a name, or leave it out", "the name of the rule is empty")
	}
	if arguments != nil && arguments.kind == object && len(arguments.members) == 0 {
		r.errorf(arguments.pos, child(pointer, "arguments"), "write argument: pattern below it", "arguments of the rule are empty")
	}
	for _, m := range arguments.list() {
		if _, err := schema.Pattern(m.value.str()); err != nil {
			r.errorf(m.value.pos, child(child(pointer, "arguments"), m.key), "write one as Go has it (RE2), without lookaround",
				"the pattern of %s is no regular expression", clip(m.key, 60))
		}
	}
}

// setTexts reads a mapping of texts.
func (r *report) setTexts(n *node, pointer string, f *field, v reflect.Value) {
	if n.kind != object {
		r.mismatch(n, pointer, f, "a mapping", "write key: text below it")
		return
	}
	texts := reflect.MakeMapWithSize(v.Type(), len(n.members))
	for _, m := range n.members {
		e := reflect.New(v.Type().Elem()).Elem()
		if m.value.kind == null {
			r.mismatch(m.value, child(pointer, m.key), &field{key: m.key}, "a string", "write a text, or leave the key out")
			continue
		}
		r.setString(m.value, child(pointer, m.key), &field{key: m.key}, e)
		texts.SetMapIndex(reflect.ValueOf(m.key), e)
	}
	v.Set(texts)
}
