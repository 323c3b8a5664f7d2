package ingest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/store"
)

// rowTables are the tables whose rows a file may hold.
const rowTables = "resources, ontologies, moments, users, feedback"

// isTable reports whether a file may hold rows of a table.
func isTable(name string) bool { return slices.Contains(strings.Split(rowTables, ", "), name) }

// structured makes the schema or the rows of a YAML or JSON file; done is false for other
// data.
func (in *Ingester) structured(c *candidate, data string, set settings, m *made) (done bool, err error) {
	src, err := extract.Decode(data)
	if err != nil {
		return false, err
	}
	if c.format == extract.JSON {
		// In JSON, a tab is only between tokens, where a space means the same.
		src = strings.ReplaceAll(src, "\t", " ")
	}
	root, err := parseYAML(c.path, src, 1)
	if err != nil {
		if set.table != "" && !isRestriction(set.table) || meant.MatchString(src) {
			return true, err
		}
		return false, nil // a template, a list of anchors: text
	}
	switch list, isMap := members(root); {
	case isMap && isRows(list):
		m.rows, err = readTables(c.path, list, set)
	case isMap && in.SchemaRow != nil && isAgent(list):
		m.result.Kind = "schema"
		m.schema, err = in.agent(c, []byte(data), set)
		if m.schema != nil {
			m.result.Key = m.schema.Name
		}
		return true, err
	case set.table != "" && isTable(set.table):
		items, isList := elements(root)
		switch {
		case isList && rowsOf(items):
			m.rows, err = readTables(c.path, []member{{set.table, root.GetToken(), root}}, set)
		case isMap && !isRestriction(set.table):
			m.rows, err = readTables(c.path, []member{{set.table, root.GetToken(), listOf(root)}}, set)
		case isRestriction(set.table):
			return false, nil
		default:
			err = &Problem{c.path, 1, 1, "no list of rows for the table " + set.table}
		}
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	m.result.Kind, m.result.Rows, m.result.FileID = "rows", m.rows.count(), c.id
	m.doc = &store.Document{File: in.file(c, "application/"+string(c.format), m.size, set)}
	m.doc.File.Metadata = encode(fileMetadata{Fingerprint: in.fingerprint(c, set, ""), SessionID: set.session})
	return true, nil
}

// meant matches a text whose syntax errors are reported: it is meant as a document or rows.
var meant = regexp.MustCompile(`(?m)^(?:\{ *)?["']?(?:resources|ontologies|moments|users|feedback|json_schema_extra)["']? *:`)

// isRestriction reports whether documents can be restricted to a table.
func isRestriction(table string) bool { return table == TableOntologies || table == TableResources }

// isRows reports whether a mapping holds only lists of rows.
func isRows(list []member) bool {
	for _, m := range list {
		items, ok := elements(m.value)
		if !ok || !isTable(m.key) || !rowsOf(items) {
			return false
		}
	}
	return len(list) > 0
}

// rowsOf reports whether a list holds only mappings.
func rowsOf(items []ast.Node) bool {
	for _, item := range items {
		if _, ok := members(item); !ok {
			return false
		}
	}
	return true
}

// listOf is a list of one.
func listOf(n ast.Node) ast.Node {
	return &ast.SequenceNode{BaseNode: &ast.BaseNode{}, Start: n.GetToken(), Values: []ast.Node{n}}
}

// isAgent reports whether a mapping is an agent's document: it has a description, a name
// and a key that only such documents have. A compose file with a name is not.
func isAgent(list []member) bool {
	has := func(list []member, key string) ast.Node {
		for _, m := range list {
			if m.key == key {
				return m.value
			}
		}
		return nil
	}
	if kind, ok := has(list, "kind").(*ast.StringNode); ok {
		return kind.Value == "agent" || kind.Value == "evaluator"
	}
	if extra, ok := members(has(list, "json_schema_extra")); ok {
		if kind, ok := has(extra, "kind").(*ast.StringNode); ok {
			return kind.Value == "agent" || kind.Value == "evaluator"
		}
		return has(list, "description") != nil || has(extra, "name") != nil || has(extra, "short_name") != nil
	}
	if has(list, "object") != nil { // an assistant of OpenAI
		return false
	}
	typed, _ := has(list, "type").(*ast.StringNode)
	return has(list, "name") != nil && has(list, "description") != nil &&
		(typed != nil && typed.Value == "object" || has(list, "tools") != nil || has(list, "system_prompt") != nil)
}

// agent returns the row of an agent's document.
func (in *Ingester) agent(c *candidate, data []byte, set settings) (*store.Schema, error) {
	d, err := agent.Parse(c.path, data)
	var problems agent.Problems
	if errors.As(err, &problems) {
		return nil, problems.Errors()
	}
	if err != nil {
		return nil, err
	}
	a, err := agent.Compile(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	row, err := in.SchemaRow(a, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	row.Shared = set.shared
	row.Tags = mergeTags(row.Tags, set.tags)
	return &row, nil
}
