package run

import (
	"mime"
	"path"
	"strings"
	"sync/atomic"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// The bounds of the files in the events of a run and of the runs below it: the bytes of
// their data, and a name's characters.
const (
	maxFileData = 1 << 20
	maxFileName = 200
)

// files counts the data.
type files struct{ bytes atomic.Int64 }

// of returns the files of a result as its event shows them. What is over the bounds, and
// what a client must not open, is named only.
func (f *files) of(res *tool.Result) []event.File {
	all := len(res.Parts) + len(res.Files)
	if all == 0 {
		return nil
	}
	list := make([]event.File, 0, all)
	shown, room := 0, event.MaxFileData
	add := func(file event.File) {
		file.Name = fileName(file.Name)
		file.Size = max(file.Size, len(file.Data))
		kind, safe := mediaType(file.MediaType)
		file.MediaType = kind
		switch {
		case file.Size == 0:
			return
		case safe && len(file.Data) > 0 && len(file.Data) <= room && shown < event.MaxFiles && f.take(len(file.Data)):
			shown++
			room -= len(file.Data)
		default:
			file.Data, file.Omitted = nil, true
		}
		list = append(list, file)
	}
	for _, p := range res.Parts {
		add(event.File{MediaType: p.MediaType, Name: p.Name, Data: p.Data})
	}
	for _, file := range res.Files {
		add(file)
	}
	return list
}

// take reports whether n more bytes fit, and counts them.
func (f *files) take(n int) bool {
	if f.bytes.Add(int64(n)) <= maxFileData {
		return true
	}
	f.bytes.Add(-int64(n))
	return false
}

// mediaType returns a media type without parameters, and whether a client may open such a
// file. SVG and other XML may hold scripts.
func mediaType(s string) (kind string, safe bool) {
	const unknown, longest = "application/octet-stream", 100
	kind, _, err := mime.ParseMediaType(s)
	if err != nil || len(kind) > longest {
		return unknown, false
	}
	class, name, _ := strings.Cut(kind, "/")
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '+' || r == '-') {
			return unknown, false
		}
	}
	switch class {
	case "image", "audio", "video":
		for _, active := range []string{"svg", "xml", "html"} {
			if strings.Contains(name, active) {
				return kind, false
			}
		}
		return kind, name != ""
	}
	return kind, kind == "application/pdf" || kind == "text/plain"
}

// fileName returns the last element of a name, which may be a path or a URI. It tells
// neither the folder nor the query.
func fileName(name string) string {
	if strings.HasPrefix(name, "data:") {
		return ""
	}
	if strings.Contains(name, "://") {
		name, _, _ = strings.Cut(name, "#")
		name, _, _ = strings.Cut(name, "?")
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	switch name {
	case ".", "..", "/":
		return ""
	}
	return tool.Cut(strings.Join(strings.Fields(name), " "), maxFileName)
}
