package mcp

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/tool"
)

// Open returns a server that no setting names: at is an address that begins with http://
// or https://, or a command line, whose words may be in quotes. Close ends its
// connections, too.
func (s *Servers) Open(at string) (tool.Server, error) {
	e, err := unnamed(at)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, stopping()
	}
	made := s.newServer(e)
	s.opened = append(s.opened, made)
	return made, nil
}

func unnamed(at string) (*entry, error) {
	if strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://") {
		u, err := parseURL(at)
		if err != nil {
			return nil, err
		}
		return &entry{name: u.Host + u.Path, url: u, unnamed: true}, nil
	}
	words, err := words(at)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the command line of the MCP server is empty")
	}
	return &entry{name: filepath.Base(words[0]), kind: kindStdio, command: words[0], args: words[1:]}, nil
}

// words splits a command line at its blanks. Quotes keep words together; outside of
// single quotes, a backslash keeps the next quote, blank or backslash as it is.
func words(line string) (list []string, err error) {
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if !strings.ContainsRune(`"'\ `, r) {
				word.WriteRune('\\') // as in a path of Windows
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if begun {
				list = append(list, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote in the command line of the MCP server does not end")
	case escaped:
		word.WriteRune('\\')
	}
	if begun {
		list = append(list, word.String())
	}
	return list, nil
}
