// Package diff compares texts line by line, for people: [Lines] shows what was removed and
// what was added, with a few equal lines around. It finds the shortest difference, and gives
// up on that for texts that are too large for it.
package diff

import (
	"strconv"
	"strings"
)

// maxCells bounds the table of a comparison: larger texts are shown as one change.
const maxCells = 4 << 20

// Lines returns the lines that differ between two texts, each after "- " (only in a) or
// "+ " (only in b), with up to around equal lines on either side after "  ". A line such as
// "@@ 12" is the number, in a, of the first line that follows. It returns "" for equal texts.
func Lines(a, b string, around int) string {
	if a == b {
		return ""
	}
	edits := compare(split(a), split(b))
	shown := make([]bool, len(edits))
	for i, e := range edits {
		if e.kind != ' ' {
			for j := max(0, i-around); j <= min(len(edits)-1, i+around); j++ {
				shown[j] = true
			}
		}
	}
	var out strings.Builder
	number := 1
	for i, e := range edits {
		if shown[i] {
			if (i == 0 || !shown[i-1]) && number > 1 {
				out.WriteString("@@ " + strconv.Itoa(number) + "\n")
			}
			out.WriteByte(e.kind)
			out.WriteString(" " + e.line + "\n")
		}
		if e.kind != '+' {
			number++
		}
	}
	return out.String()
}

// split returns the lines of a text without their ends. A last line without an end is
// marked, so that it differs from one that has it.
func split(s string) []string {
	if s == "" {
		return nil
	}
	body, ended := strings.CutSuffix(s, "\n")
	lines := strings.Split(body, "\n")
	if !ended && strings.Contains(s, "\n") {
		lines[len(lines)-1] += " (no end of line)"
	}
	return lines
}

// edit is a line of a comparison.
type edit struct {
	kind byte // ' ', '-' or '+'
	line string
}

// compare returns the shortest list of edits that leads from a to b: removed lines before
// added ones.
func compare(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, edit{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail, a, b = append(tail, edit{' ', a[len(a)-1]}), a[:len(a)-1], b[:len(b)-1]
	}
	out := head
	if len(a)*len(b) > maxCells {
		out = replace(out, a, b)
	} else {
		out = shortest(out, a, b)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

func replace(out []edit, a, b []string) []edit {
	for _, line := range a {
		out = append(out, edit{'-', line})
	}
	for _, line := range b {
		out = append(out, edit{'+', line})
	}
	return out
}

// shortest follows the longest common subsequence.
func shortest(out []edit, a, b []string) []edit {
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			at := i*width + j
			if a[i] == b[j] {
				common[at] = common[at+width+1] + 1
			} else {
				common[at] = max(common[at+width], common[at+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		at := i*width + j
		switch {
		case a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[at+width] >= common[at+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return replace(out, a[i:], b[j:])
}
