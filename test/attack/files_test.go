package attack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/hostile"
)

// upload is a hostile file.
type upload struct {
	name string
	body []byte
}

// uploads are a file of package hostile for each format, a bomb of YAML aliases, and a file
// that is longer than an upload may be.
func uploads(t testing.TB) []upload {
	return []upload{
		{"loop.pdf", hostile.LoopPDF()}, {"bomb.pdf", hostile.BombPDF()}, {"cells.docx", hostile.CellsDOCX()},
		{"rows.csv", rowsCSV(t)}, {"columns.csv", hostile.ColumnsCSV()}, {"deep.html", hostile.DeepHTML()},
		{"deep.json", hostile.DeepJSON()}, {"lists.md", hostile.ListsMarkdown()},
		{"laughs.yaml", laughs()}, {"huge.md", hugeMarkdown(t)},
	}
}

// rowsCSV has ten million records, which are refused after half a minute with the race
// detector; half a million in the short form, which are stored as thousands of pieces.
func rowsCSV(t testing.TB) []byte {
	all := hostile.RowsCSV()
	return all[:harness.Count(t, len(all)/20, len(all))]
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

// hugeMarkdown has 199 MB, 40 in the short form: more than may be uploaded.
func hugeMarkdown(t testing.TB) []byte {
	return bytes.Repeat([]byte("# One\n\nTwo words.\n\n"), harness.Count(t, 40_000_000, 199_000_000)/19)
}
