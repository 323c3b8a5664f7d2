package ingest

import (
	"cmp"
	"errors"
	"log/slog"
	"runtime"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/ingest/internal/chunk"
	"github.com/p8-org/p8/store"
)

// Options configure an Ingester.
type Options struct {
	// Store gets the rows; [Over] makes one of a *store.Store.
	Store Store
	// SchemaRow makes the row of an agent's document (catalog.Row). Without it, agents'
	// documents are stored as data.
	SchemaRow func(a *agent.Agent, source []byte) (store.Schema, error)
	Chunking  Chunking
	// Extractor parses PDF, DOCX and HTML files; nil is InProcess.
	Extractor Extractor
	// MaxFileBytes bounds a file; 0 is 32 MiB. The text of a file is also bounded, to
	// 32 MiB and 50,000 chunks.
	MaxFileBytes int64
	// Workers is how many files are read, and uploads processed, at a time; others wait. 0
	// is the number of processors, at most 8. Only one file or text of more than 4 MiB is
	// in memory at a time.
	Workers int
	Log     *slog.Logger
}

// Chunking are the sizes of chunks in tokens (cl100k_base).
type Chunking struct {
	// Target is the size to which chunks are filled; 0 is 400 (REM: 1500 characters).
	// Overlap is how much of the previous text a chunk repeats; 0 is 50 (REM: 200
	// characters), negative for no overlap. Max is the maximum; 0 is 1.5 times Target (REM: 2500
	// characters).
	Target, Overlap, Max int
}

// The tables to which documents can be restricted.
const (
	TableOntologies = "ontologies"
	TableResources  = "resources"
)

const (
	defaultMaxFile = 32 << 20
	mostWorkers    = 8
)

// Ingester stores files. It is safe for concurrent use.
type Ingester struct {
	Options
	cutter *chunk.Cutter
	// uploads has a slot for each upload in progress, heavy one for a big file.
	uploads, heavy chan struct{}
}

// New makes an Ingester. It returns an error if the options are invalid.
func New(o Options) (*Ingester, error) {
	if o.Store.Documents == nil || o.Store.Files == nil || o.Store.Resources == nil {
		return nil, errors.New("ingest: Options.Store is missing: ingest.Over makes it of a *store.Store")
	}
	cutter, err := chunk.New(chunk.Options{Target: o.Chunking.Target, Overlap: o.Chunking.Overlap, Max: o.Chunking.Max})
	if err != nil {
		return nil, errors.Join(errors.New("ingest: Options.Chunking"), err)
	}
	o.Chunking = Chunking{Target: cutter.Target, Overlap: cutter.Overlap, Max: cutter.Max}
	o.MaxFileBytes = cmp.Or(o.MaxFileBytes, defaultMaxFile)
	o.Workers = min(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), mostWorkers)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Extractor == nil {
		o.Extractor = InProcess{}
	}
	return &Ingester{Options: o, cutter: cutter, uploads: make(chan struct{}, o.Workers), heavy: make(chan struct{}, 1)}, nil
}

// settings are the options of a run, the same for all its files.
type settings struct {
	table    string
	category string
	tags     []string
	session  string
	shared   bool
	// local: the files are the operator's and may hold rows of other users.
	local bool
}
