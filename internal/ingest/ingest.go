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

// Options are what an Ingester needs.
type Options struct {
	// Store is where knowledge goes; [Over] makes it.
	Store Store
	// SchemaRow makes the row of an agent's document (catalog.Row). Without it,
	// agents' documents are data like any other.
	SchemaRow func(a *agent.Agent, source []byte) (store.Schema, error)
	Chunking  Chunking
	// Extractor reads PDF, DOCX and HTML files, nil for InProcess.
	Extractor Extractor
	// MaxFileBytes bounds a file, 0 for 32 MiB. The text of a file is bounded by
	// 32 MiB and 50,000 chunks besides.
	MaxFileBytes int64
	// Workers read files at a time, 0 for one a processor, 8 at most. So many
	// uploads are taken in at a time, too; others wait. Of files and texts over
	// 4 MiB one is held at a time.
	Workers int
	Log     *slog.Logger
}

// Chunking are the sizes of chunks in tokens (cl100k_base).
type Chunking struct {
	// Target is the size that chunks are filled to, 0 for 400 (REM: 1500
	// characters); Overlap what of the text before is repeated, 0 for 50 (REM: 200
	// characters), negative for none; Max is never exceeded, 0 for one and a half
	// targets (REM: 2500 characters).
	Target, Overlap, Max int
}

// Tables that documents can be restricted to.
const (
	TableOntologies = "ontologies"
	TableResources  = "resources"
)

const (
	defaultMaxFile = 32 << 20
	mostWorkers    = 8
)

// Ingester takes files in. It is safe for concurrent use.
type Ingester struct {
	Options
	cutter *chunk.Cutter
	// uploads has room for those that are taken in, heavy for one big file.
	uploads, heavy chan struct{}
}

// New is an Ingester; it fails when the options cannot work.
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

// settings are what a run asks for, for every file of it alike.
type settings struct {
	table    string
	category string
	tags     []string
	session  string
	shared   bool
	// local says that the files are the operator's own: they may hold users' rows.
	local bool
}
