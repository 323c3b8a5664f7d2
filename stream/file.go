package stream

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/p8-org/p8/event"
)

// files sends the files of a call's result as parts of the answer, and says how many are
// left out.
func (e *aisdkEncoder) files(ev event.Event, d *event.ToolCallData) error {
	left := 0
	for i := range d.Files {
		f := &d.Files[i]
		if len(f.Data) == 0 {
			left++
			continue
		}
		e.openStep()
		e.chunk("file")
		e.field("mediaType", f.MediaType)
		e.buf = appendInner(append(e.buf, `,"url":"data:`...), f.MediaType)
		e.buf = base64.StdEncoding.AppendEncode(append(e.buf, ";base64,"...), f.Data)
		e.buf = append(e.buf, '"')
		e.end()
	}
	if left == 0 {
		return nil
	}
	ev.Type, ev.Data = event.Warning, &event.WarningData{
		Code:    event.CodeFilesLeftOut,
		Message: fmt.Sprintf("%d of %d files of %s are not shown: they are too many, too large or of another type.", left, len(d.Files), d.Name),
	}
	return e.data(ev, "", false)
}

// withoutFileData returns the call with its files named only: clients of OpenAI's protocols
// have no use for their data.
func withoutFileData(d *event.ToolCallData) *event.ToolCallData {
	if len(d.Files) == 0 {
		return d
	}
	named := *d
	named.Files = slices.Clone(d.Files)
	for i := range named.Files {
		named.Files[i].Data = nil
	}
	return &named
}
