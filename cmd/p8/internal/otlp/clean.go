package otlp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// cleaned is a span without secrets, personal data, null values, texts that protocol buffers
// refuse, and more than the collector should get.
type cleaned struct {
	sdktrace.ReadOnlySpan
	name    string
	attrs   []attribute.KeyValue
	dropped int
	events  []sdktrace.Event
	links   []sdktrace.Link
	status  sdktrace.Status
}

func (c *cleaned) Name() string                     { return c.name }
func (c *cleaned) Attributes() []attribute.KeyValue { return c.attrs }
func (c *cleaned) DroppedAttributes() int           { return c.ReadOnlySpan.DroppedAttributes() + c.dropped }
func (c *cleaned) Events() []sdktrace.Event         { return c.events }
func (c *cleaned) Links() []sdktrace.Link           { return c.links }
func (c *cleaned) Status() sdktrace.Status          { return c.status }

// maxName is the longest name of a span, in bytes.
const maxName = 256

func (s *spans) clean(span sdktrace.ReadOnlySpan) sdktrace.ReadOnlySpan {
	all := span.Attributes()
	c := &cleaned{ReadOnlySpan: span, name: cut(s.Clean(span.Name()), maxName), status: span.Status()}
	c.attrs = s.attributes(all)
	c.dropped = len(all) - len(c.attrs)
	c.status.Description = s.text(c.status.Description)
	c.events = slices.Clone(span.Events())
	c.events = c.events[:min(len(c.events), s.MaxCount)]
	for i := range c.events {
		c.events[i].Name = cut(s.Clean(c.events[i].Name), maxName)
		c.events[i].Attributes = s.attributes(c.events[i].Attributes)
	}
	c.links = slices.Clone(span.Links())
	for i := range c.links {
		c.links[i].Attributes = s.attributes(c.links[i].Attributes)
	}
	return c
}

func (s *spans) attributes(list []attribute.KeyValue) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, min(len(list), s.MaxCount))
	for _, a := range list[:cap(out)] {
		a.Key = attribute.Key(cut(string(a.Key), maxName))
		switch a.Value.Type() {
		case attribute.STRING:
			a.Value = attribute.StringValue(s.text(a.Value.AsString()))
		case attribute.STRINGSLICE:
			texts := a.Value.AsStringSlice()
			texts = texts[:min(len(texts), s.MaxCount)]
			for i := range texts {
				texts[i] = s.text(texts[i])
			}
			a.Value = attribute.StringSliceValue(texts)
		case attribute.BOOL, attribute.INT64, attribute.FLOAT64, attribute.BOOLSLICE, attribute.INT64SLICE, attribute.FLOAT64SLICE:
		default:
			a.Value = attribute.StringValue("") // Phoenix refuses null
		}
		out = append(out, a)
	}
	return out
}

// text cleans a text before it cuts it: half a secret looks like none.
func (s *spans) text(text string) string { return cut(s.Clean(text), s.MaxText) }

// cut returns a text in valid UTF-8 of at most most bytes.
func cut(text string, most int) string {
	const more = "…"
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if len(text) <= most {
		return text
	}
	end := max(most-len(more), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}
