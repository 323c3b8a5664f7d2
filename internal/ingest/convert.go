package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/internal/ingest/internal/markdown"
	"github.com/p8-org/p8/store"
)

// edition counts changes in how files become rows. A file stored by another edition is
// written again.
const edition = "2"

// made has the rows of a file, ready to be written.
type made struct {
	result Result
	size   int64
	doc    *store.Document
	schema *store.Schema
	rows   *tables
}

// fileMetadata is the metadata of a file's row.
type fileMetadata struct {
	// Fingerprint is that of everything that the file's rows depend on.
	Fingerprint string `json:"fingerprint"`
	Chunks      int    `json:"chunk_count"`
	Chars       int    `json:"char_count"`
	SessionID   string `json:"session_id,omitempty"`
}

// fingerprint hashes everything that the rows of a file depend on.
func (in *Ingester) fingerprint(c *candidate, set settings, links string) string {
	h := sha256.New()
	if c.format != extract.Markdown {
		links = ""
	}
	fmt.Fprintf(h, "%q", []string{edition, c.hash, c.name, c.uri, set.table, set.category, strings.Join(set.tags, "\n"), set.session,
		fmt.Sprint(in.Chunking), links, c.mime})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unchanged reports whether a new run would write the rows that are stored.
func (c *candidate) unchanged(fingerprint string) bool {
	if c.stored == nil || c.stored.Hash != c.hash || c.stored.Status != store.FileCompleted {
		return false
	}
	var m fileMetadata
	return json.Unmarshal(c.stored.Metadata, &m) == nil && m.Fingerprint == fingerprint
}

// convert reads a file and makes its rows. Its error is the reason in the report.
func (in *Ingester) convert(ctx context.Context, c *candidate, set settings, links *linker, s *share) (*made, error) {
	if c.format == extract.Unknown {
		return nil, extract.ErrBinary
	}
	plain, err := in.load(ctx, c, s)
	if err != nil {
		return nil, err
	}
	m := &made{size: c.size, result: Result{Path: c.path, Status: Written, Key: c.name}}
	if c.format == extract.YAML || c.format == extract.JSON {
		if done, err := in.structured(c, plain.Text, set, m); done || err != nil {
			return m, err
		}
	}
	if !c.format.Parsed() {
		if plain.Text, err = extract.Decode(plain.Text); err != nil {
			return nil, err
		}
	}
	text, err := plain.Blocks(ctx, c.format)
	if err != nil {
		return nil, place(c.path, err)
	}
	var front frontMatter
	body := 0
	if c.format == extract.Markdown {
		var src string
		if src, body = markdown.SplitFront(text.Content); body > 0 {
			f, ok, err := readFront(c.path, src)
			if err != nil {
				return nil, err
			}
			if front = f; !ok {
				body = 0
			}
			text.Blocks = extract.MarkdownBlocks(ctx, text.Content, body)
		}
	}
	return m, in.document(ctx, c, m, text, front, body, set, links)
}

// place adds the file to an error that has only a position.
func place(file string, err error) error {
	if msg := err.Error(); msg != "" && msg[0] >= '0' && msg[0] <= '9' {
		return errors.New(file + ":" + msg)
	}
	return err
}

// document makes the rows of a document.
func (in *Ingester) document(ctx context.Context, c *candidate, m *made, text chunk.Text, front frontMatter, body int, set settings, links *linker) error {
	page := strings.TrimSpace(text.Content[body:])
	category := front.category
	if category == "" {
		category = set.category
	}
	tags := mergeTags(front.tags, set.tags)
	m.doc = &store.Document{File: in.file(c, c.detected, m.size, set)}
	m.doc.File.Tags, m.result.Kind, m.result.FileID = tags, "document", c.id
	m.result.Chars = utf8.RuneCountInString(page)
	if (c.format == extract.Markdown && set.table == "" || set.table == TableOntologies) && page != "" {
		o := &store.Ontology{
			Name: c.name, URI: c.uri, Content: page, Category: category, FileID: c.id, Hash: c.hash,
			Base: store.Base{Shared: set.shared, Tags: tags, Metadata: encode(front.metadata)},
		}
		if front.uri != "" {
			o.URI = front.uri
		}
		o.GraphEdges = mergeEdges(front.edges, linkEdges(markdown.Links([]byte(text.Content[body:])), c.name, func(l markdown.Link) string {
			return links.key(c, l)
		}))
		m.doc.Ontology, m.doc.File.Name = o, c.name+pageSuffix
	}
	if set.table != TableOntologies {
		chunks, err := in.cutter.Cut(ctx, text)
		if errors.Is(err, chunk.ErrTooMany) {
			err = fmt.Errorf("%w: it would become more than %d pieces; split it", ErrTooLarge, in.cutter.Most)
		}
		if err != nil {
			return err
		}
		for i, k := range chunks {
			m.doc.Chunks = append(m.doc.Chunks, in.chunkRow(c, i, k, front.title(), category, tags, set))
		}
	}
	m.result.Chunks = len(m.doc.Chunks)
	m.doc.File.Metadata = encode(fileMetadata{
		Fingerprint: in.fingerprint(c, set, links.names), SessionID: set.session, Chunks: m.result.Chunks, Chars: m.result.Chars,
	})
	return nil
}

// file returns the row of a file.
func (in *Ingester) file(c *candidate, mime string, size int64, set settings) *store.File {
	return &store.File{
		Base: store.Base{ID: c.id, Shared: set.shared}, Name: c.name, URI: c.uri, MIMEType: mime,
		Size: size, Status: store.FileCompleted, Hash: c.hash,
	}
}

// chunkMetadata has the position of a chunk in its file.
type chunkMetadata struct {
	FileID   string   `json:"file_id"`
	Filename string   `json:"source_filename"`
	Headings []string `json:"heading_path,omitempty"`
	// Title is that of the page's front matter.
	Title string `json:"title,omitempty"`
	// Lines and pages count from 1, characters from 0, in the extracted text.
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
	CharStart int    `json:"char_start"`
	CharEnd   int    `json:"char_end"`
	PageStart int    `json:"page_start,omitempty"`
	PageEnd   int    `json:"page_end,omitempty"`
	Tokens    int    `json:"token_count"`
	SessionID string `json:"session_id,omitempty"`
}

func (in *Ingester) chunkRow(c *candidate, i int, k chunk.Chunk, title, category string, tags []string, set settings) *store.Resource {
	return &store.Resource{
		Name: store.ChunkName(c.name, i), URI: c.uri, Ordinal: i, Content: k.Content, Category: category, FileID: c.id,
		Base: store.Base{
			Shared: set.shared, Tags: tags,
			GraphEdges: []store.Edge{{Target: c.name, Relation: "chunk_of", Weight: 1}},
			Metadata: encode(chunkMetadata{
				FileID: c.id, Filename: path.Base(c.rel), Headings: k.Headings, Title: title, LineStart: k.FirstLine, LineEnd: k.LastLine,
				CharStart: k.FirstChar, CharEnd: k.LastChar, PageStart: k.FirstPage, PageEnd: k.LastPage, Tokens: k.Tokens,
				SessionID: set.session,
			}),
		},
	}
}

// mergeTags returns the tags of both lists without duplicates.
func mergeTags(a, b []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range [][]string{a, b} {
		for _, tag := range list {
			if tag != "" && !seen[tag] {
				seen[tag] = true
				out = append(out, tag)
			}
		}
	}
	return out
}

// encode returns a value as JSON. The values that it is called with cannot fail.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	if string(b) == "null" {
		return nil
	}
	return b
}
