package agent

import (
	"cmp"
	"path"
	"reflect"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
)

// setApproval reads always, never or a list of rules.
func (r *report) setApproval(n *node, pointer string, f *field, v reflect.Value) {
	const want = "always, never or a list of rules"
	var a Approval
	switch {
	case n.Kind == text && n.Text == approvalNever:
	case n.Kind == text && n.Text == approvalAlways:
		a.Always = true
	case n.Kind == text:
		hint := cmp.Or(didYouMean(n.Text, []string{approvalAlways, approvalNever}), "write "+want)
		r.errorf(n.Pos, pointer, hint, "%s cannot be %q", f.key, clip(n.Text, 60))
	case n.Kind == array && len(n.Items) == 0:
		r.errorf(n.Pos, pointer, "write never, or a rule", "%s has no rules", f.key)
	case n.Kind == array:
		r.setSlice(n, pointer, f, reflect.ValueOf(&a.Rules).Elem())
		for i, item := range n.Items {
			r.checkRule(item, tree.Element(pointer, i))
		}
	case n.Kind == object:
		r.mismatch(n, pointer, f, want, "write a list: begin each rule with a dash")
	default:
		r.mismatch(n, pointer, f, want, "write always or never")
	}
	v.Set(reflect.ValueOf(a))
}

// checkRule refuses empty rules and invalid patterns.
func (r *report) checkRule(n *node, pointer string) {
	if n.Kind != object {
		return
	}
	name, arguments := n.Get("name"), n.Get("arguments")
	if (name == nil || name.Kind == null) && (arguments == nil || arguments.Kind == null) {
		r.errorf(n.Pos, pointer, "add name or arguments, or write always in place of the rules", "the rule says nothing")
		return
	}
	if _, err := path.Match(name.Str(), ""); err != nil {
		r.errorf(name.Pos, tree.Child(pointer, "name"), "close the [", "the name %q is no pattern", clip(name.Text, 60))
	}
	if name != nil && name.Kind == text && name.Text == "" {
		r.errorf(name.Pos, tree.Child(pointer, "name"), "write a name, or leave it out", "the name of the rule is empty")
	}
	if arguments != nil && arguments.Kind == object && len(arguments.Members) == 0 {
		r.errorf(arguments.Pos, tree.Child(pointer, "arguments"), "write argument: pattern below it", "arguments of the rule are empty")
	}
	for _, m := range arguments.List() {
		if _, err := schema.Pattern(m.Value.Str()); err != nil {
			r.errorf(m.Value.Pos, tree.Child(tree.Child(pointer, "arguments"), m.Key), "write one as Go has it (RE2), without lookaround",
				"the pattern of %s is no regular expression", clip(m.Key, 60))
		}
	}
}

// setTexts reads a mapping of texts.
func (r *report) setTexts(n *node, pointer string, f *field, v reflect.Value) {
	if n.Kind != object {
		r.mismatch(n, pointer, f, "a mapping", "write key: text below it")
		return
	}
	texts := reflect.MakeMapWithSize(v.Type(), len(n.Members))
	for _, m := range n.Members {
		e := reflect.New(v.Type().Elem()).Elem()
		if m.Value.Kind == null {
			r.mismatch(m.Value, tree.Child(pointer, m.Key), &field{key: m.Key}, "a string", "write a text, or leave the key out")
			continue
		}
		r.setString(m.Value, tree.Child(pointer, m.Key), &field{key: m.Key}, e)
		texts.SetMapIndex(reflect.ValueOf(m.Key), e)
	}
	v.Set(texts)
}
