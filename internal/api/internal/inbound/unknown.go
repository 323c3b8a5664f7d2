package inbound

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/near"
)

// maxUnknown bounds the unknown fields that are named.
const maxUnknown = 8

// Unknown returns a warning for each field of the body that p8 does not know, nil if there
// is none. They are no error, as many clients send fields of other servers. text is the
// valid JSON that b was decoded from.
func (b *Completion) Unknown(text []byte) []event.WarningData {
	var unknown []string
	for key := range keys(text) {
		if !known(key) && len(unknown) < maxUnknown {
			unknown = append(unknown, string(key))
		}
	}
	if unknown == nil {
		return nil
	}
	names := fields(reflect.TypeFor[Completion]())
	var out []event.WarningData
	for _, name := range unknown {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			continue // encoding/json has read it
		}
		w := event.WarningData{Code: "unknown_field", Message: fmt.Sprintf("p8 has no field %q, so it was ignored", web.Cut(name))}
		if meant := near.Word(strings.ToLower(name), names); meant != "" {
			w.Message += "; did you mean " + meant + "?"
		}
		out = append(out, w)
	}
	return out
}

// known reports whether a key is the name of a field of Completion. It spares most requests
// the reflection.
func known(key []byte) bool {
	switch string(key) {
	case "model", "messages", "query", "stream", "stream_options", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop",
		"response_format", "reasoning_effort", "tools", "tool_choice", "if_busy", "metadata",
		"seed", "frequency_penalty", "presence_penalty", "logit_bias", "parallel_tool_calls", "service_tier", "verbosity",
		"prompt_cache_key", "safety_identifier", "n", "logprobs", "top_logprobs", "user", "store":
		return true
	}
	return false
}

// fields returns the JSON names of the fields of a struct.
func fields(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// keys yields the keys of an object, as they are written. text is valid JSON.
func keys(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		depth, begins := 0, false
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '{', '[':
				depth++
				begins = depth == 1
			case '}', ']':
				depth--
			case ',':
				begins = depth == 1
			case '"':
				from := i + 1
				for i++; text[i] != '"'; i++ {
					if text[i] == '\\' {
						i++
					}
				}
				if begins && !yield(text[from:i]) {
					return
				}
				begins = false
			}
		}
	}
}
