package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AppendString writes a JSON string. Unlike encoding/json it does not escape <, > and
// &, which a model reads better, and it does not allocate.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default: // a byte that is no UTF-8
			b = append(b, `\ufffd`...)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// SendableArguments returns the arguments of an earlier call as a JSON object. A model
// may have written something else; Ollama and vLLM parse the history and would refuse
// the whole conversation for it.
func SendableArguments(arguments string) string {
	switch text := strings.TrimSpace(arguments); {
	case text == "" || text == "null":
		return "{}"
	case text[0] != '{' || !json.Valid([]byte(text)):
		return string(append(AppendString([]byte(`{"not_an_object":`), arguments), '}'))
	}
	return arguments
}
