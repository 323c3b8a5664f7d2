package run

import (
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// pieces are the arguments of a call while the model writes them.
type pieces struct {
	event.ToolArgumentsData
	started bool // the beginning of the call was shown
	// begun: a piece has come. first is that piece until the second one comes: arguments in
	// one piece are shown when the call executes.
	begun bool
	first string
	// hidden: no pieces are shown. size is the size of all, in bytes.
	hidden bool
	size   int
}

// next returns what is shown when a piece comes. Arguments that do not begin as a JSON object
// are not shown in pieces: tool.Arguments mends or refuses them.
func (p *pieces) next(text string) string {
	if !p.begun {
		text = strings.TrimLeft(text, " \t\r\n")
		p.begun = text != ""
		p.hidden = p.hidden || p.begun && text[0] != '{'
		p.size, p.first = len(text), text
		return ""
	}
	if p.size += len(text); p.hidden || p.size > tool.MaxArguments || text == "" {
		return ""
	}
	text, p.first = p.first+text, ""
	return text
}

// write shows that the model writes a call: its beginning, and a piece of its arguments.
func (r *runner) write(c *call, text string) error {
	if !c.piece.started {
		c.piece.started = true
		if err := r.showRest(); err != nil {
			return err
		}
		_, client := r.findTool(c.name).(tool.Client)
		if err := r.emit(event.New(&event.ToolCallData{Name: c.name, ID: c.id, Status: event.ToolStarted, Client: client})); err != nil {
			return err
		}
	}
	if text = c.piece.next(text); text == "" {
		return nil
	}
	return r.emit(event.Event{Type: event.ToolArguments, Text: text, Data: &c.piece.ToolArgumentsData})
}
