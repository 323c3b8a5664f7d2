package ingest

import (
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
)

// Status is the result of a file.
type Status string

// The statuses.
const (
	// Written: new, or changed.
	Written Status = "written"
	// Unchanged: stored before; nothing was written.
	Unchanged Status = "unchanged"
	// Skipped: not to be read (a picture, a link, a hidden file).
	Skipped Status = "skipped"
	// Failed: cannot be read.
	Failed Status = "failed"
	// Pruned: gone from the folder; its rows were deleted.
	Pruned Status = "pruned"
)

// Result is the result of one file.
type Result struct {
	// Path is the path as given or found.
	Path   string `json:"path"`
	Status Status `json:"status"`
	// Reason says why a file was skipped or failed; a problem within a file begins
	// with its place, "file:line:column: ".
	Reason string `json:"reason,omitempty"`
	// Kind is what the file became: document, schema or rows.
	Kind string `json:"kind,omitempty"`
	// Key is the key with which LOOKUP finds it.
	Key string `json:"key,omitempty"`
	// FileID is the id of the row in files; ResourceIDs are those of the chunks.
	FileID      string   `json:"file_id,omitempty"`
	ResourceIDs []string `json:"resource_ids,omitempty"`
	// Chunks and Chars count the extracted text; Rows counts the rows of a file of rows.
	Chunks int `json:"chunk_count,omitempty"`
	Chars  int `json:"total_chars,omitempty"`
	Rows   int `json:"rows,omitempty"`
}

// Report is the result of a run.
type Report struct {
	// Results has each file that was written, skipped or failed, sorted by path; Unchanged
	// counts the unchanged ones.
	Results []Result `json:"results"`
	Written int      `json:"written"`
	// Unchanged, Skipped, Failed and Pruned count files too.
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Failed    int `json:"failed"`
	Pruned    int `json:"pruned,omitempty"`
	// Chunks, Rows and Bytes are those of the files that were written.
	Chunks int   `json:"chunks"`
	Rows   int   `json:"rows"`
	Bytes  int64 `json:"bytes"`
	// DryRun: nothing was written; Written counts what would have been.
	DryRun bool `json:"dry_run,omitempty"`
}

func (r *Report) add(x Result, size int64) {
	switch x.Status {
	case Unchanged:
		r.Unchanged++
		return
	case Written:
		r.Written++
		r.Chunks += x.Chunks
		r.Rows += x.Rows
		r.Bytes += size
	case Skipped:
		r.Skipped++
	case Failed:
		r.Failed++
	case Pruned:
		r.Pruned++
	}
	r.Results = append(r.Results, x)
}

// sort sorts the results by path, since workers finish in any order.
func (r *Report) sort() {
	arrange.By(r.Results, func(a, b Result) int { return strings.Compare(a.Path, b.Path) })
}

// Problem is something wrong within a file.
type Problem struct {
	File string
	// Line and Column count from 1, in characters; 0 is unknown.
	Line, Column int
	Message      string
}

// Error is "file:line:column: message".
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}
