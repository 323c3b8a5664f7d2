package evals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/store"
)

// finder finds documents by name, by name@version, and by path.
type finder struct {
	catalog *catalog.Catalog
	store   *store.Store
}

// agent returns the agent of a reference, in the version that it pins.
func (f *finder) agent(ctx context.Context, text string) (experiment.Ref, *agent.Agent, error) {
	ref := experiment.ParseRef(text)
	ref.Source = text
	if isPath(text) {
		ref = experiment.Ref{Name: text, Source: text}
		src, err := readFile(text)
		if err != nil {
			return ref, nil, err
		}
		doc, err := agent.Parse(text, src)
		if err != nil {
			return ref, nil, err
		}
		a, err := agent.Compile(doc)
		if err != nil {
			return ref, nil, err
		}
		ref.Name, ref.Version, ref.Hash, ref.Pinned = a.Name, "file "+filepath.Base(text), hashOf(doc), true
		return ref, a, nil
	}
	a, err := f.catalog.Agent(ctx, ref.Name)
	if err != nil {
		return ref, nil, err
	}
	if ref.Pinned && a.Document.Version != ref.Version {
		if a, err = f.version(ctx, ref, a.Document.Version); err != nil {
			return ref, nil, err
		}
	}
	ref.Version, ref.Hash = a.Document.Version, hashOf(a.Document)
	return ref, a, nil
}

// maxVersions bounds the versions that are searched for a pinned one.
const maxVersions = 1000

// version returns an older version of a stored document.
func (f *finder) version(ctx context.Context, ref experiment.Ref, now string) (*agent.Agent, error) {
	known := []string{now}
	if f.store != nil {
		history, err := f.store.SchemaHistory(ctx, ref.Name, maxVersions)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		for _, v := range history {
			doc, err := agent.Parse(ref.Name, []byte(v.Source))
			if v.Source == "" || err != nil {
				continue
			}
			if doc.Version == ref.Version {
				return agent.Compile(doc)
			}
			if doc.Version != "" && !slices.Contains(known, doc.Version) {
				known = append(known, doc.Version)
			}
		}
	}
	if known[0] == "" {
		known[0] = "one without a number"
	}
	return nil, fmt.Errorf("the document %s has no version %s: there is %s", show.OneLine(ref.Name), show.OneLine(ref.Version), show.OneLine(strings.Join(known, ", ")))
}

// evaluators returns what a reference names: an evaluator's document, a type of check, or a
// file with checks.
func (f *finder) evaluators(ctx context.Context, text string, c *evaluation.Model) (refs []experiment.Ref, list []evaluation.Evaluator, err error) {
	var a *agent.Agent
	var ref experiment.Ref
	switch {
	case isPath(text):
		src, err := readFile(text)
		if err != nil {
			return nil, nil, err
		}
		if doc, wrong := agent.Parse(text, src); wrong != nil || !evaluation.IsEvaluator(doc) {
			list, err = evaluation.Parse(text, src)
			if err != nil && wrong != nil && documentKey.Match(src) {
				err = wrong
			}
			if err != nil {
				return nil, nil, err
			}
			for _, e := range list {
				refs = append(refs, experiment.Ref{Name: e.Name(), Hash: hash(src), Source: text})
			}
			return refs, list, nil
		}
		ref, a, err = f.agent(ctx, text)
		if err != nil {
			return nil, nil, err
		}
	case slices.Contains(evaluation.Types(), text):
		list, err = evaluation.Parse("--evaluator", []byte("type: "+text))
		if err != nil {
			return nil, nil, command.Usage("--evaluator %s: %v", text, err)
		}
		return []experiment.Ref{{Name: list[0].Name(), Source: text}}, list, nil
	default:
		ref, a, err = f.agent(ctx, text)
		if missing := new(catalog.NotFoundError); errors.As(err, &missing) {
			near := ""
			if len(missing.Near) > 0 {
				near = fmt.Sprintf("; did you mean %q?", missing.Near[0])
			}
			err = fmt.Errorf("there is no evaluator %q%s: it is the name of a document, a file with checks, or one of %s", show.OneLine(text), near, strings.Join(evaluation.Types(), ", "))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	e, err := evaluation.Document(a, c)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Ready(ctx, a); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", e.Name(), err)
	}
	ref.Name = e.Name()
	return []experiment.Ref{ref}, []evaluation.Evaluator{e}, nil
}

// documentKey matches a key of a document that a file with checks has not.
var documentKey = regexp.MustCompile(`(?m)^\s*"(description|properties|kind|evaluation_type)"\s*:|^(description|properties|kind|evaluation_type)\s*:`)

func isPath(text string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".md"}, strings.ToLower(filepath.Ext(text))) && !strings.Contains(text, "@")
}

// maxDocument bounds the text of a document.
const maxDocument = 1 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: give the path of a file", show.OneLine(path))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil || len(text) > maxDocument {
		return nil, fmt.Errorf("%s cannot be read, or is larger than %d bytes", show.OneLine(path), maxDocument)
	}
	return text, nil
}

// hashOf names the text of a document.
func hashOf(d *agent.Document) string {
	text, err := d.MarshalYAML()
	if err != nil {
		return ""
	}
	return hash(text)
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
