package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/internal/ingest/internal/markdown"
	"github.com/p8-org/p8/store"
)

// VerifyOptions configure [VerifyLinks].
type VerifyOptions struct {
	// Known reports whether a key that no file of the folder has is stored; nil accepts
	// none.
	Known func(key string) bool
}

// BrokenLink is a link without a target.
type BrokenLink struct {
	// File is the path below the folder; Line and Column count from 1, in
	// characters.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Link is the text of the link, Key the key that was not found.
	Link string `json:"link"`
	Key  string `json:"key"`
}

// String is "file:line:column: link".
func (b BrokenLink) String() string {
	return fmt.Sprintf("%s:%d:%d: %s leads nowhere (no file, and no key %s)", b.File, b.Line, b.Column, b.Link, b.Key)
}

// VerifyReport is the result of VerifyLinks.
type VerifyReport struct {
	Files  int          `json:"files"`
	Links  int          `json:"links"`
	Broken []BrokenLink `json:"broken"`
}

// VerifyLinks checks the links of the Markdown files in a folder. A link is valid if its
// file exists, or a page of the folder has its stem or name as key (README and index have
// none), or the key is known. It ignores links to the web, within a page and in code.
func VerifyLinks(ctx context.Context, dir string, o VerifyOptions) (*VerifyReport, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", dir, reason(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is not a folder", store.ErrInvalid, dir)
	}
	found := &Report{}
	w := &walker{pattern: "", maxSize: defaultMaxFile, seen: map[string]bool{}, report: found}
	defer w.close()
	if err := w.add(ctx, dir); err != nil {
		return nil, err
	}
	v := &verifier{files: map[string]bool{".": true}, keys: map[string]bool{}, known: o.Known}
	var pages []*source
	for _, s := range w.files {
		for p := s.rel; p != "."; p = path.Dir(p) {
			v.files[p] = true
		}
		if f, _ := extract.Detect(s.rel, "", nil); f == extract.Markdown {
			pages = append(pages, s)
		}
	}
	report := &VerifyReport{Files: len(pages)}
	for _, visit := range []func(*source, string){v.page, func(s *source, text string) { v.check(report, s, text) }} {
		for _, s := range pages {
			text, err := s.text(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.path, err)
			}
			visit(s, text)
		}
	}
	return report, nil
}

// text returns the whole file as text.
func (s *source) text(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, err := s.open()
	if err != nil {
		return "", errors.New(reason(err))
	}
	defer f.Close()
	var b strings.Builder
	b.Grow(int(s.size))
	if _, err := io.Copy(&b, io.LimitReader(f, s.size)); err != nil {
		return "", errors.New(reason(err))
	}
	return extract.Decode(b.String())
}

// verifier has the targets of links.
type verifier struct {
	files, keys map[string]bool
	known       func(string) bool
}

// page adds the keys of a page.
func (v *verifier) page(s *source, text string) {
	if name := strings.TrimSuffix(path.Base(s.rel), path.Ext(s.rel)); !isIndex(name) {
		v.keys[store.NormalizeKey(name)] = true
	}
	if src, _ := markdown.SplitFront(text); src != "" {
		if f, ok, err := readFront(s.path, src); ok && err == nil && f.name != "" {
			v.keys[store.NormalizeKey(f.name)] = true
		}
	}
}

func (v *verifier) check(report *VerifyReport, s *source, text string) {
	_, body := markdown.SplitFront(text)
	for _, l := range markdown.Links([]byte(text[body:])) {
		report.Links++
		key := store.NormalizeKey(stem(l.Dest))
		if l.Wiki {
			key = store.NormalizeKey(l.Dest)
		}
		if v.good(s, l, key) {
			continue
		}
		at := body + l.Pos
		report.Broken = append(report.Broken, BrokenLink{
			File: s.rel, Line: 1 + strings.Count(text[:at], "\n"),
			Column: 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text[:at], '\n')+1:at]), Link: l.Dest, Key: key,
		})
	}
}

func (v *verifier) good(s *source, l markdown.Link, key string) bool {
	if !l.Wiki {
		target := path.Join(path.Dir(s.rel), l.Dest)
		if strings.HasPrefix(l.Dest, "/") {
			target = path.Clean(strings.TrimLeft(l.Dest, "/"))
		}
		if v.files[target] || v.files[target+".md"] {
			return true
		}
	}
	return v.keys[key] || v.known != nil && v.known(key)
}
