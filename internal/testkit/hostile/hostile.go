// Package hostile makes small files that are expensive for a careless reader: documents
// that unpack to gigabytes, loops, deep nesting, tables with a million columns.
//
//	for _, f := range hostile.Files() { upload(f.Name, f.Data()) }
//
// Every file is generated, so the repository holds none.
package hostile

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// File is one attack.
type File struct {
	// Name has the extension of the format.
	Name string
	// Cost is what a careless reader pays.
	Cost string
	Data func() []byte
}

// Files returns all attacks. None is longer than the default limit of an upload.
func Files() []File {
	return []File{
		{"loop.pdf", "a core for ever", LoopPDF},
		{"bomb.pdf", "page content of a quarter of a gigabyte", BombPDF},
		{"forms.pdf", "two to the power of thirty forms", FormsPDF},
		{"paragraphs.docx", "three million paragraphs", ParagraphsDOCX},
		{"bomb.docx", "a gigabyte of text", BombDOCX},
		{"deep.docx", "a million nested elements", DeepDOCX},
		{"cells.docx", "a row of a table that never ends", CellsDOCX},
		{"deep.html", "a million nested elements", DeepHTML},
		{"formats.html", "formatting elements that are opened anew in every paragraph", FormatsHTML},
		{"rows.csv", "ten million records", RowsCSV},
		{"columns.csv", "a million columns", ColumnsCSV},
		{"quote.csv", "one record without an end", QuoteCSV},
		{"deep.json", "indentation of ten gigabytes", DeepJSON},
		{"brackets.yaml", "a million tokens", BracketsYAML},
		{"dashes.yaml", "nested lists", DashesYAML},
		{"quotes.md", "nested quotations", QuotesMarkdown},
		{"lists.md", "nested lists", ListsMarkdown},
		{"links.md", "unclosed links", LinksMarkdown},
		{"rules.md", "a table whose header is megabytes long", RulesMarkdown},
		{"lines.txt", "eight million paragraphs", LinesText},
	}
}

// mib is a mebibyte.
const mib = 1 << 20

func repeat(s string, size int) []byte { return bytes.Repeat([]byte(s), size/len(s)) }

// LoopPDF has a page tree whose only child is the tree itself.
func LoopPDF() []byte {
	return pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>")
}

// BombPDF has one page whose content unpacks to 256 MiB.
func BombPDF() []byte {
	return pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		packed("BT /F1 12 Tf ", "(aaaaaaaa) Tj ", 256*mib))
}

// FormsPDF has thirty forms, each of which draws the next one twice.
func FormsPDF() []byte {
	const forms = 30
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>",
		"<< /Length 5 >>\nstream\n/X Do\nendstream",
	}
	for i := range forms {
		objects = append(objects, fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >> /Length 11 >>\nstream\n/X Do /X Do\nendstream", 6+i))
	}
	objects = append(objects, "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 1 >>\nstream\nq\nendstream")
	return pdf(objects...)
}

// packed is a stream object that unpacks to size bytes.
func packed(head, part string, size int) string {
	var z bytes.Buffer
	w, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	block := repeat(part, mib)
	// A buffer takes everything.
	_, _ = w.Write([]byte(head))
	for n := 0; n < size; n += len(block) {
		_, _ = w.Write(block)
	}
	_ = w.Close()
	return fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", z.Len(), z.String())
}

// pdf numbers the objects from 1, the first is the catalog.
func pdf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

// ParagraphsDOCX has three million paragraphs of one letter.
func ParagraphsDOCX() []byte { return docx("<p><r><t>a</t></r></p>", 3_000_000, "") }

// BombDOCX has one paragraph of a gigabyte.
func BombDOCX() []byte {
	return docx(strings.Repeat("a", mib), 1<<10, "<p><r><t>")
}

// DeepDOCX has a million nested elements.
func DeepDOCX() []byte { return docx("<p>", 1_000_000, "") }

// CellsDOCX has a table with one row that never ends.
func CellsDOCX() []byte {
	return docx("<tc><p><r><t>"+strings.Repeat("ab", 100)+"</t></r></p></tc>", 200_000, "<tbl><tr>")
}

// docx is a Word document whose body is head and n parts.
func docx(part string, n int, head string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	// A buffer takes everything.
	w, _ := z.Create("word/document.xml")
	_, _ = w.Write([]byte("<document><body>" + head))
	block := max(1, mib/len(part))
	whole := []byte(strings.Repeat(part, block))
	for ; n > 0; n -= block {
		_, _ = w.Write(whole[:min(n, block)*len(part)])
	}
	_, _ = w.Write([]byte("</body></document>"))
	_ = z.Close()
	return b.Bytes()
}

// DeepHTML has a million nested elements.
func DeepHTML() []byte { return repeat("<div>", 5*mib) }

// FormatsHTML opens formatting elements that every paragraph opens again.
func FormatsHTML() []byte {
	var b bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&b, "<font size=%d>", i)
	}
	b.Write(repeat("<p>a", 2*mib))
	return b.Bytes()
}

// RowsCSV has ten million records of one letter.
func RowsCSV() []byte { return repeat("1\n", 20*mib) }

// ColumnsCSV has a million columns and three records.
func ColumnsCSV() []byte { return repeat(strings.Repeat("a,", 1_000_000)+"a\n", 8_000_000) }

// QuoteCSV opens a quotation and never ends it.
func QuoteCSV() []byte { return append([]byte("a,b\n\""), repeat("x,y\n", 20*mib)...) }

// DeepJSON has a million values under a thousand lists: with every level
// indented it has ten gigabytes.
func DeepJSON() []byte {
	const deep = 9_900
	return []byte(strings.Repeat("[", deep) + strings.Repeat("1,", 1_000_000) + "1" + strings.Repeat("]", deep))
}

// BracketsYAML has a million tokens within the size that is parsed.
func BracketsYAML() []byte { return append([]byte("resources: ["), repeat("a,", 2*mib-100)...) }

// DashesYAML nests a list in a list on every line.
func DashesYAML() []byte {
	return append([]byte("resources:\n"), repeat(strings.Repeat("- ", 40)+"a\n", 2*mib-100)...)
}

// QuotesMarkdown nests quotations as deep as a paragraph allows, again and again.
func QuotesMarkdown() []byte { return repeat(strings.Repeat(">", 4000)+" a\n\n", 2*mib) }

// ListsMarkdown nests lists on every line.
func ListsMarkdown() []byte { return repeat(strings.Repeat("- ", 2000)+"a\n\n", 2*mib) }

// LinksMarkdown opens links that never end.
func LinksMarkdown() []byte { return repeat(strings.Repeat("[a](", 1000)+"\n\n", 2*mib) }

// RulesMarkdown is a table whose header row has megabytes, over short rows.
func RulesMarkdown() []byte {
	const cells = mib
	return []byte(strings.Repeat("a|", cells) + "\n" + strings.Repeat("-|", cells) + "\n" + strings.Repeat("1|\n", mib))
}

// LinesText has eight million paragraphs of one letter.
func LinesText() []byte { return repeat("a\n\n", 24*mib) }
