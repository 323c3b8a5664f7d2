package tree

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/schema"
)

// Read reads YAML or JSON; nil after an error.
func (r *Reader) Read(src []byte) *Node {
	if !r.Legible(src) {
		return nil
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	var root *Node
	if body := bytes.TrimLeft(src, " \t\r\n"); looksLikeJSON(r.File, body) {
		root = r.JSON(src)
	} else {
		root = r.YAML(src)
	}
	return r.Bounded(root)
}

// Bounded refuses a tree that is too large or too deep; it returns nil for it.
func (r *Reader) Bounded(root *Node) *Node {
	switch {
	case root == nil:
	case root.Weight > maxWeight:
		r.errorf(At(1, 1), "repeat less with aliases", "the document is too large once its aliases are written out")
		return nil
	case root.Depth > MaxDepth:
		r.errorf(root.Pos, "make it flatter", "the document is nested more than %d levels deep", MaxDepth)
		return nil
	}
	return root
}

// Legible refuses a source that is too large or not UTF-8.
func (r *Reader) Legible(src []byte) bool {
	if len(src) > r.max() {
		r.errorf(Position{}, cmp.Or(r.Hints.Long, "shorten it"), "the document has %d bytes; at most %d are read", len(src), r.max())
		return false
	}
	if i := invalidUTF8(src); i >= 0 {
		r.errorf(r.at(src, i), "save the file as UTF-8", "the text is not valid UTF-8 here")
		return false
	}
	return true
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		c, size := utf8.DecodeRune(src[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// looksLikeJSON reports whether a document is JSON, valid or not. YAML's flow
// mappings ({name: x}) go to the YAML parser.
func looksLikeJSON(file string, body []byte) bool {
	if len(body) == 0 || body[0] != '{' {
		return false
	}
	next := bytes.TrimLeft(body[1:], " \t\r\n")
	return path.Ext(file) == ".json" || json.Valid(body) || len(next) > 0 && next[0] == '"' && file == ""
}

// at returns the Position of a byte offset.
func (r *Reader) at(src []byte, offset int) Position {
	before := src[:min(max(offset, 0), len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return At(int32(bytes.Count(before, []byte("\n"))+1), int32(utf8.RuneCount(before[start:])+1))
}

// jsonReader builds the tree from encoding/json's tokens and computes their
// positions.
type jsonReader struct {
	*Reader
	src    []byte
	dec    *json.Decoder
	offset int
	pos    Position
}

var errDepth = errors.New("too deep")

// JSON reads a source that is JSON; nil after an error.
func (r *Reader) JSON(src []byte) *Node {
	j := &jsonReader{Reader: r, src: src, dec: json.NewDecoder(bytes.NewReader(src)), pos: At(1, 1)}
	j.dec.UseNumber()
	n, err := j.value(0)
	if err == nil {
		if _, err = j.dec.Token(); err == io.EOF {
			return n
		}
		if err == nil {
			err = &json.SyntaxError{Offset: j.dec.InputOffset()}
		}
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errDepth):
		r.errorf(j.pos, "make it flatter", "the document is nested more than %d levels deep", MaxDepth)
	case errors.As(err, &syntax):
		at := min(int(syntax.Offset), len(src)) - 1
		r.errorf(r.at(src, at), jsonHint(src, at), "this is not valid JSON")
	default:
		r.errorf(r.at(src, len(src)), "close every string, list and object", "the JSON ends too early")
	}
	return nil
}

func jsonHint(src []byte, at int) string {
	before := bytes.TrimRight(src[:max(at, 0)], " \t\r\n")
	after := bytes.TrimLeft(src[max(at, 0):], ", \t\r\n")
	comma := bytes.HasSuffix(before, []byte(",")) || at >= 0 && at < len(src) && src[at] == ','
	if comma && len(after) > 0 && (after[0] == '}' || after[0] == ']') {
		return "remove the comma before " + string(after[0])
	}
	return "expected a value, a key in double quotes, a comma or a closing bracket"
}

// token returns the next token and its Position.
func (j *jsonReader) token() (json.Token, Position, error) {
	offset := int(j.dec.InputOffset())
	for offset < len(j.src) && bytes.IndexByte([]byte(" \t\r\n,:"), j.src[offset]) >= 0 {
		offset++
	}
	for ; j.offset < offset; j.offset++ {
		switch c := j.src[j.offset]; {
		case c == '\n':
			j.pos = At(j.pos.Line+1, 1)
		case c&0xc0 != 0x80: // not inside a character
			j.pos.Column++
		}
	}
	pos := j.pos
	t, err := j.dec.Token()
	return t, pos, err
}

func (j *jsonReader) value(depth int) (*Node, error) {
	t, pos, err := j.token()
	if err != nil {
		return nil, err
	}
	if depth > MaxDepth {
		return nil, errDepth
	}
	n := &Node{Pos: pos}
	switch v := t.(type) {
	case string:
		n.Kind, n.Text = Text, v
	case json.Number:
		n.Kind, n.Text = Number, v.String()
		if schema.Outlandish(n.Text) {
			j.errorf(pos, "put it in quotes if it is a text", "the number is too large or too small")
			n.Text = "0"
		}
	case bool:
		n.Kind, n.Text = Boolean, "false"
		if v {
			n.Text = "true"
		}
	case json.Delim:
		if v == '{' {
			n.Kind = Object
			return n, j.object(n, depth)
		}
		n.Kind = Array
		for j.dec.More() {
			item, err := j.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, err = j.dec.Token()
	}
	return n.Measure(), err
}

func (j *jsonReader) object(n *Node, depth int) error {
	seen := map[string]Position{}
	for j.dec.More() {
		t, pos, err := j.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		value, err := j.value(depth + 1)
		if err != nil {
			return err
		}
		if first, twice := seen[key]; twice {
			j.duplicate(key, pos, first)
			continue
		}
		seen[key] = pos
		n.Members = append(n.Members, Member{Key: key, Pos: pos, Value: value})
	}
	n.Measure()
	_, err := j.dec.Token()
	return err
}

func (r *Reader) duplicate(key string, pos, first Position) {
	r.errorf(pos, "remove one of them", "the key %q is already given in line %d", Clip(key, 60), first.Line)
}
