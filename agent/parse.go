package agent

import (
	"reflect"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// extraKey holds all of a nested document that is not JSON Schema.
const extraKey = "json_schema_extra"

// Parse reads a document in either dialect, as YAML or JSON. Problems name file. A document
// without a name takes that of its file (.yaml, .yml or .json): agents/my-helper.yaml is
// my-helper; see [Document.Unnamed].
//
// The error is [Problems] and holds all errors and warnings; a document without
// errors has its warnings in Document.Warnings. An unknown key is kept, with a
// warning.
func Parse(file string, src []byte) (*Document, error) {
	r := newReport(file, src)
	root := r.read(src)
	if root == nil {
		return nil, r.list
	}
	return r.document(root)
}

// document checks the tree and prepares it for Compile.
func (r *report) document(root *node) (*Document, error) {
	d := &Document{root: root}
	r.fields(d)
	r.takeName(d)
	r.checkNames(d)
	r.checkTools(d)
	r.checkAgents(d)
	r.checkRouting(d)
	r.checkSchema(d)
	r.checkState(d)
	r.checkPrompt(d)
	r.checkModes(d)
	r.checkEvaluator(d)
	r.list.sort()
	if err := r.list.Err(); err != nil {
		return nil, err
	}
	d.Warnings, d.report = r.list, report{file: r.file, lines: r.lines}
	d.prepare()
	return d, nil
}

// fields reads the typed view. A nested document may have some fields at the root,
// as REM's evaluators do; json_schema_extra takes precedence.
func (r *report) fields(d *Document) {
	root, l := d.root, layouts()[reflect.TypeFor[Fields]()]
	v := reflect.ValueOf(&d.Fields).Elem()
	extra := root.Get(extraKey)
	if extra == nil {
		r.decode(root, "", v, tree.IsSchemaKey)
		d.legacyResources()
		return
	}
	d.Dialect = Nested
	for _, m := range root.Members {
		f := l.byKey[m.Key]
		switch {
		case m.Key == extraKey || tree.IsSchemaKey(m.Key) && (f == nil || !f.schema):
		case f == nil:
			r.unknownKey(m, tree.Child("", m.Key), append(slices.Clone(l.keys), tree.SchemaKeys()...))
		case !f.schema && extra.Get(f.key) != nil:
			if string(extra.Get(f.key).AppendJSON(nil)) != string(m.Value.AppendJSON(nil)) {
				r.warnf(m.Pos, tree.Child("", m.Key), "keep one of them", "%s is also given in %s, which counts", m.Key, extraKey)
			}
		default:
			r.set(m.Value, tree.Child("", m.Key), f, v.Field(f.index))
		}
	}
	switch extra.Kind {
	case object:
		title, description := d.Title, d.Description
		r.decode(extra, "/"+extraKey, v, nil)
		// The schema part is only at the root.
		if title != "" || description != "" {
			d.Title, d.Description = title, description
		}
	case null:
	default:
		r.errorf(extra.Pos, "/"+extraKey, "write its keys below it", "%s must be a mapping, not %s", extraKey, extra.Kind)
	}
}

// legacyResources turns the resources of older flat documents, which have no
// URI, into tools.
func (d *Document) legacyResources() {
	kept := d.Resources[:0:0]
	for _, res := range d.Resources {
		if res.URI != "" || res.URIPattern != "" || res.Name == "" {
			kept = append(kept, res)
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(res.Name), " ", "_")
		if !slices.ContainsFunc(d.Tools, func(t ToolRef) bool { return t.Name == name }) {
			d.Tools = append(d.Tools, ToolRef{Name: name, Description: res.Description, Server: res.Server})
		}
	}
	d.Resources = kept
}

// prepare computes the names, the prompt and the output schema.
func (d *Document) prepare() {
	d.names = d.allNames()
	d.limits = d.runLimits()
	d.Schema = d.outputSchema(false)
	d.prompt = d.buildPrompt(d.StructuredOutput)
	if d.StructuredOutput {
		d.output, d.validator = d.newOutput(d.Schema), newValidator(d.Schema)
	}
	d.prepareState()
}
