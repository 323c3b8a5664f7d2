package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxPart bounds an unpacked part of a document, in bytes: a small archive can unpack to
// gigabytes.
const maxPart = 4 * MaxText

// docxText writes a Word document as Markdown: headings, paragraphs, lists,
// tables.
func docxText(ctx context.Context, data []byte, to Sink) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return errors.New("damaged: it is no archive")
	}
	levels := map[string]int{}
	if styles, err := part(z, "word/styles.xml"); err == nil {
		levels = headingStyles(styles)
	}
	body, err := part(z, "word/document.xml")
	if err != nil {
		return err
	}
	w := &word{levels: levels, dec: xml.NewDecoder(body), to: to}
	return w.read(ctx)
}

// part returns a bounded reader of a file in the archive.
func part(z *zip.Reader, name string) (io.Reader, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("damaged: %s is missing", name)
	}
	return io.LimitReader(f, maxPart), nil
}

// headingStyles returns the levels of heading styles by style id. It finds them by name, as
// Word translates the ids but not the names.
func headingStyles(r io.Reader) map[string]int {
	levels := map[string]int{}
	dec := xml.NewDecoder(r)
	id := ""
	for {
		tok, err := dec.Token()
		if err != nil {
			return levels
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
		case "name":
			if n := headingName(attr(e, "val")); n > 0 && id != "" {
				levels[id] = n
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil && n >= 0 && n < 6 && id != "" {
				levels[id] = n + 1
			}
		}
	}
}

// headingName returns the level in a style's name, 0 for none.
func headingName(name string) int {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	if name == "title" {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "heading"))
	if !strings.HasPrefix(name, "heading") || err != nil || n < 1 {
		return 0
	}
	return min(n, 6)
}

// attr returns an attribute's value, "" for none.
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// word writes the body of a document.
type word struct {
	dec    *xml.Decoder
	levels map[string]int
	to     Sink
	err    error // of to

	text   strings.Builder // of the paragraph
	level  int
	list   bool
	inText bool
	tables int // number of open tables
	cells  []string
	cell   []string // paragraphs of the cell
	held   int      // bytes of cells and cell
	rows   int      // of the outermost table
}

func (w *word) read(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tok, err := w.dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New("damaged: its text cannot be parsed, or is too long")
		}
		switch t := tok.(type) {
		case xml.StartElement:
			w.start(t)
		case xml.EndElement:
			w.end(t.Name.Local)
		case xml.CharData:
			if w.inText {
				w.text.Write(t)
			}
		}
		if w.err != nil {
			return w.err
		}
		if w.text.Len() > MaxText || w.held > MaxText {
			return TooMuchText()
		}
	}
}

func (w *word) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		w.text.Reset()
		w.level, w.list = 0, false
	case "pStyle":
		id := attr(e, "val")
		if w.level = w.levels[id]; w.level == 0 {
			w.level = headingName(id)
		}
		w.list = w.list || strings.HasPrefix(strings.ToLower(id), "list")
	case "numPr":
		w.list = true
	case "outlineLvl":
		if n, err := strconv.Atoi(attr(e, "val")); err == nil && n >= 0 && n < 6 {
			w.level = n + 1
		}
	case "t":
		w.inText = true
	case "tab":
		w.text.WriteByte(' ')
	case "br", "cr":
		w.text.WriteByte('\n')
	case "tbl":
		if w.tables++; w.tables == 1 {
			w.rows = 0
		}
	case "tr":
		if w.tables == 1 {
			w.cells, w.held = w.cells[:0], 0
		}
	case "tc":
		if w.tables == 1 {
			w.cell = w.cell[:0]
		}
	}
}

func (w *word) end(name string) {
	switch name {
	case "t":
		w.inText = false
	case "p":
		w.paragraph()
	case "tc":
		if w.tables == 1 {
			w.cells = append(w.cells, strings.Join(w.cell, " "))
		}
	case "tr":
		if w.tables == 1 {
			w.row()
		}
	case "tbl":
		if w.tables--; w.tables == 0 {
			w.put("\n")
		}
	}
}

// put writes to the sink; read checks the error.
func (w *word) put(s string) {
	if w.err == nil {
		w.err = w.to.Write(s)
	}
}

func (w *word) paragraph() {
	text := strings.TrimSpace(w.text.String())
	w.text.Reset()
	switch {
	case text == "":
	case w.tables > 0:
		const header = 16 // bytes of a string header: an empty cell costs memory too
		w.held += len(text) + header
		w.cell = append(w.cell, strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`))
	case w.level > 0:
		w.put(strings.Repeat("#", w.level) + " " + strings.ReplaceAll(text, "\n", " ") + "\n\n")
	case w.list:
		w.put("- " + strings.ReplaceAll(text, "\n", "\n  ") + "\n\n")
	default:
		w.put(text + "\n\n")
	}
}

func (w *word) row() {
	w.put("| " + strings.Join(w.cells, " | ") + " |\n")
	if w.rows++; w.rows == 1 {
		w.put(strings.Repeat("| --- ", len(w.cells)) + "|\n")
	}
}
