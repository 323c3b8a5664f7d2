package attack

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// loopPDF is a PDF whose page tree is its own child.
func loopPDF() []byte {
	return pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")
}

// bombPDF is a page whose content unpacks to 400 MB of text operators, 100 in the short
// form.
func bombPDF(t testing.TB) []byte {
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("BT /F 1 Tf (aaaaaaaaaaaaaaaa) Tj ET\n", 1000))
	for range harness.Count(t, 100_000_000, 400_000_000) / len(line) {
		if _, err := z.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>/MediaBox[0 0 9 9]>>",
		fmt.Sprintf("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", packed.Len(), packed.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
}

// pdf is a file of these objects, numbered from 1.
func pdf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// bombDOCX has 3 million paragraphs in a third of a megabyte, a tenth in the short form.
func bombDOCX(t testing.TB) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
	some := strings.Repeat("<w:p><w:r><w:t>a</w:t></w:r></w:p>", 1000)
	for range harness.Count(t, 300, 3000) {
		if _, err := fmt.Fprint(w, some); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(w, `</w:body></w:document>`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// longCSV has 20 MB of short rows, a tenth in the short form; wideCSV a million columns.
func longCSV(t testing.TB) []byte {
	return []byte("name,note\n" + strings.Repeat("a,b\n", harness.Count(t, 500_000, 5_000_000)))
}

func wideCSV() []byte {
	return []byte(strings.Repeat("c,", 1_000_000) + "c\n" + strings.Repeat("1,", 1_000_000) + "1\n")
}

// deepHTML is nested a million times.
func deepHTML() []byte { return []byte(strings.Repeat("<div>", 1_000_000)) }

// deepJSON is nested a million times.
func deepJSON() []byte {
	return []byte(strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000))
}

// laughs is YAML whose aliases stand for nine to the power of nine words.
func laughs() []byte {
	var b strings.Builder
	b.WriteString("a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n")
	for i := 1; i < 9; i++ {
		prev := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Join([]string{prev, prev, prev, prev, prev, prev, prev, prev, prev}, ", "))
	}
	return []byte(b.String())
}

// nestedMarkdown is nested quotes and lists, and brackets that open links.
func nestedMarkdown() []byte {
	return []byte(strings.Repeat("> ", 50_000) + "a\n\n" + strings.Repeat("[", 500_000) + "\n\n" + strings.Repeat("- ", 50_000) + "b\n")
}

// hugeMarkdown has 199 MB, 40 in the short form: more than may be uploaded.
func hugeMarkdown(t testing.TB) []byte {
	return bytes.Repeat([]byte("# One\n\nTwo words.\n\n"), harness.Count(t, 40_000_000, 199_000_000)/19)
}
