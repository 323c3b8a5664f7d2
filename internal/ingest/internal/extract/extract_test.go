package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/hostile"
)

// read returns the text of a file of any format, and its blocks.
func read(ctx context.Context, f Format, data []byte) (chunk.Text, error) {
	if f.Parsed() {
		plain, err := Guard(ctx, f, data)
		if err != nil {
			return chunk.Text{}, err
		}
		return plain.Blocks(ctx, f)
	}
	if f == Unknown {
		return chunk.Text{}, ErrBinary
	}
	s, err := Decode(string(data))
	if err != nil {
		return chunk.Text{}, err
	}
	return Outline(ctx, f, s)
}

// tiled fails the test unless the blocks follow one another over the whole text.
func tiled(t *testing.T, text chunk.Text) {
	t.Helper()
	at := 0
	for b := range text.Blocks {
		if b.Start != at || b.End <= b.Start {
			t.Fatalf("a block is %d..%d after %d", b.Start, b.End, at)
		}
		at = b.End
	}
	if at != len(text.Content) {
		t.Fatalf("the blocks end at %d of %d", at, len(text.Content))
	}
}

func TestFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, mime := Detect(file, "", data)
			text, err := read(t.Context(), f, data)
			if err != nil {
				t.Fatal(err)
			}
			tiled(t, text)
			var b strings.Builder
			fmt.Fprintf(&b, "%s (%s)\n", f, mime)
			for k := range text.Blocks {
				fmt.Fprintf(&b, "\n-- %s", [...]string{"prose", "heading", "verbatim"}[k.Kind])
				if k.Level > 0 {
					fmt.Fprintf(&b, " level %d %q", k.Level, k.Title)
				}
				if k.Page > 0 {
					fmt.Fprintf(&b, " page %d", k.Page)
				}
				if k.Repeat != "" {
					fmt.Fprintf(&b, " after %q", k.Repeat)
				}
				fmt.Fprintf(&b, "\n%q\n", text.Content[k.Start:k.End])
			}
			golden.Compare(t, file+".golden", b.String())
		})
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, mime, data string
		want             Format
	}{
		{"a.MD", "", "", Markdown}, {"a.htm", "", "", HTML}, {"x/Makefile", "", "all:", Code}, {"LICENSE", "", "MIT", Text},
		{"a.go", "", "package a", Code}, {"a.xml", "", "<a/>", Code}, {"a.cfg", "", "a=1", Code}, {"a.c", "", "int", Code},
		{"noname", "", "%PDF-1.7", PDF}, {"lies.txt", "", "%PDF-1.7", PDF},
		{"upload", "text/markdown; charset=utf-8", "# x", Markdown}, {"upload", "application/octet-stream", "plain words", Text},
		{"upload", "", "<!DOCTYPE html><p>", HTML}, {"a.png", "", "\x89PNG\r\n\x1a\n", Unknown},
		{"a.bin", "", "\x00\x01\x02", Unknown}, {"a.unknown", "", "words", Text}, {"a.zip", "", "PK\x03\x04", Unknown},
	} {
		if got, _ := Detect(c.name, c.mime, []byte(c.data)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.mime, got, c.want)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"\xef\xbb\xbfé": "é", "\xff\xfeh\x00i\x00": "hi", "\xfe\xff\x00h\x00i": "hi", "plain": "plain",
	} {
		if got, err := Decode(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		"a\nb\xff":  "not UTF-8: byte 3 (line 2)",
		"a\x00b":    "binary: byte 1",
		"caf\xe9 x": "save the file as UTF-8",
	} {
		if _, err := Decode(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestHostile: each file is read or refused quickly, and a refusal says why.
func TestHostile(t *testing.T) {
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	w, err := z.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, `<document><body><p><r><t>`)
	block := bytes.Repeat([]byte("a"), 1<<20)
	for range 40 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	pdf, err := os.ReadFile("testdata/harbor.pdf")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		format Format
		data   string
		want   string
	}{
		{"a small archive of a large text", DOCX, bomb.String(), "DOCX: "},
		{"no archive", DOCX, "PK nothing", "DOCX: damaged"},
		{"half a PDF", PDF, string(pdf[:len(pdf)/2]), "PDF: damaged"},
		{"a PDF of noise", PDF, "%PDF-1.4\n" + strings.Repeat("x", 5000), "PDF: damaged"},
		{"a picture", Unknown, "\x89PNG", "no format"},
		{"not JSON", JSON, "{\"a\": 1,\n  é b}", "2:3: not JSON"},
		{"a page tree in a loop", PDF, string(hostile.LoopPDF()), "PDF: damaged: its pages are nested in a loop"},
		{"cells without end", DOCX, string(hostile.CellsDOCX()), "the file is too large: it holds more than 32 MiB of text"},
		{"a million columns", CSV, string(hostile.ColumnsCSV()), "the file is too large: line 1 has more than 16384 columns"},
		{"gigabytes of indentation", JSON, string(hostile.DeepJSON()), ""},
		{"a record without end", CSV, string(hostile.QuoteCSV()), ""},
		{"text behind a text", Text, strings.Repeat("a", MaxText+1), "the file is too large: it holds more than 32 MiB"},
		{"deep HTML", HTML, strings.Repeat("<div>", 20_000), ""},
		{"deep JSON", JSON, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), ""},
		{"deep Markdown", Markdown, strings.Repeat(">", 100_000) + strings.Repeat("- ", 50_000), ""},
		{"one long line", Text, strings.Repeat("word ", 200_000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t.Context(), c.format, []byte(c.data))
			if c.want == "" && c.format != HTML && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, HTML, []byte("<p>x")); err != nil && err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// FuzzExtract: the blocks of a file together are its text.
func FuzzExtract(f *testing.F) {
	formats := []Format{Text, Markdown, HTML, CSV, JSON, YAML, Code, PDF, DOCX}
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := range formats {
			f.Add(data, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, i uint8) {
		text, err := read(t.Context(), formats[int(i)%len(formats)], data)
		if err == nil {
			tiled(t, text)
		}
	})
}
