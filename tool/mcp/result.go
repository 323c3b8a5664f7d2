package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// result converts a server's answer to a tool's result.
func (s *server) result(res *sdk.CallToolResult) tool.Result {
	a := &tool.Assembly{MaxText: s.all.o.MaxText, MaxData: s.all.o.MaxData}
	var plain []string
	for _, block := range res.Content {
		if text, ok := block.(*sdk.TextContent); ok {
			plain = append(plain, text.Text)
		}
		addContent(a, block)
	}
	addStructured(a, res.StructuredContent, strings.Join(plain, ""))
	out := a.Result()
	if res.IsError {
		out.Failed, out.Content = true, failure(out.Content)
	}
	return out
}

func addContent(a *tool.Assembly, block sdk.Content) {
	switch c := block.(type) {
	case *sdk.TextContent:
		a.Text(c.Text)
	case *sdk.ImageContent:
		a.File(c.MIMEType, "", c.Data)
	case *sdk.AudioContent:
		a.File(c.MIMEType, "", c.Data)
	case *sdk.ResourceLink:
		line := "[resource " + clip(c.Name) + " <" + c.URI + ">"
		if c.Description != "" {
			line += ": " + strings.Join(strings.Fields(c.Description), " ")
		}
		a.Text(line + "]")
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil && r.Blob != nil {
			a.File(r.MIMEType, r.URI, r.Blob)
		} else if r != nil {
			a.Text(r.Text)
		}
	}
}

// addStructured adds the structured part of an answer, unless the text is the same.
func addStructured(a *tool.Assembly, structured any, text string) {
	if structured == nil {
		return
	}
	raw, err := encode(structured)
	if err != nil || sameJSON(raw, text) {
		return
	}
	a.Text(string(raw))
}

// encode returns JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func sameJSON(raw []byte, text string) bool {
	var a, b any
	return json.Unmarshal([]byte(text), &b) == nil && json.Unmarshal(raw, &a) == nil && reflect.DeepEqual(a, b)
}

// failure returns the content of a failed result, in the form of all tools: a client
// reads the reason from it.
func failure(text string) string {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(text), &said) == nil && said.Error != "" {
		return text
	}
	if text == "" {
		text = "the tool reported an error"
	}
	raw, err := encode(map[string]string{"status": "error", "error": text})
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	return string(raw)
}
