package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// node is a JSON value with its place in the file.
type node struct {
	offset int
	// value is a string, a bool, a json.Number or nil; lists and objects have items
	// and members instead.
	value   any
	list    bool
	items   []*node
	object  bool
	members []member
}

type member struct {
	key    string
	offset int
	value  *node
}

// maxDepth bounds the nesting of a file.
const maxDepth = 32

// parseJSON reads JSON with comments. The offset of an error is in the file.
func parseJSON(src []byte) (*node, int, error) {
	src = blankComments(src)
	d := &jsonReader{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	d.dec.UseNumber()
	n, err := d.value(0)
	if err == nil {
		if _, more := d.dec.Token(); more == nil {
			err = errors.New("there is something after the end of the object")
		} else if !errors.Is(more, io.EOF) {
			err = more
		}
	}
	if err == nil {
		return n, 0, nil
	}
	at := d.next()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > d.dec.InputOffset() {
		at = int(syntax.Offset) - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = len(src), errors.New("the file ends too early")
	}
	return nil, min(at, len(src)), err
}

type jsonReader struct {
	src []byte
	dec *json.Decoder
}

// next returns the place of the next token.
func (d *jsonReader) next() int {
	at := int(d.dec.InputOffset())
	for at < len(d.src) && bytes.IndexByte([]byte(" \t\r\n,:"), d.src[at]) >= 0 {
		at++
	}
	return at
}

func (d *jsonReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d levels deep", maxDepth)
	}
	n := &node{offset: d.next()}
	token, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		n.list = true
		for d.dec.More() {
			item, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case json.Delim('{'):
		n.object = true
		for d.dec.More() {
			m := member{offset: d.next()}
			key, err := d.dec.Token()
			if err != nil {
				return nil, err
			}
			m.key, _ = key.(string)
			if m.value, err = d.value(depth + 1); err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
	default:
		n.value = token
		return n, nil
	}
	_, err = d.dec.Token()
	return n, err
}

// blankComments replaces // and /* */ comments, which some desktop programs allow,
// with spaces, so that every byte keeps its place.
func blankComments(src []byte) []byte {
	src = bytes.Clone(src)
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] == '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case src[i] == '/' && i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*'):
			end := "\n"
			if src[i+1] == '*' {
				end = "*/"
			}
			stop := len(src)
			if n := bytes.Index(src[i+2:], []byte(end)); n >= 0 {
				stop = i + 2 + n
				if end == "*/" {
					stop += 2
				}
			}
			for ; i < stop; i++ {
				if src[i] != '\n' && src[i] != '\r' {
					src[i] = ' '
				}
			}
			i--
		}
	}
	return src
}
