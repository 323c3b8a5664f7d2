package rem

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/store"
)

// Plan describes what a query does.
type Plan struct {
	// Query is the query in its canonical form.
	Query     string `json:"query"`
	QueryType Verb   `json:"query_type"`
	// Steps run one after the other.
	Steps []Step `json:"steps"`
	// Timeout bounds all of them together.
	Timeout string   `json:"timeout"`
	Notes   []string `json:"notes,omitempty"`
}

// Step is one operation of a plan.
type Step struct {
	Operation string `json:"operation"`
	// Index is the index that the operation reads.
	Index string `json:"index"`
	// Bound is its greatest cost, in words.
	Bound string `json:"bound"`
	// Engine is the database's own plan, a line each.
	Engine []string `json:"engine,omitempty"`
}

// indexes are the names of the indexes of an engine.
type indexes struct{ keys, edges, similar, vectors, words string }

func (e *Engine) indexes() indexes {
	const keys = "primary key of kv_store (tenant_id, owner, entity_key, entity_type)"
	const edges = "indexes of kv_edges (tenant_id, owner, target_key, relation_key, weight)"
	if e.Dialect == store.DialectPostgres {
		return indexes{
			keys:    keys,
			edges:   edges,
			similar: "GIN trigram indexes of kv_store (entity_key, content_summary)",
			vectors: "HNSW index of embeddings, scanned until enough rows of the caller are found",
			words:   "GIN text search index of the table",
		}
	}
	return indexes{
		keys:    keys,
		edges:   edges,
		similar: "trigram index in memory, one for each owner",
		vectors: "vectors in memory, one set for each tenant, table and model",
		words:   "FTS5 index of the table, ranked by rarity and frequency",
	}
}

// Explain returns the plan of a query without running it; the database plans SQL. Errors
// are those of Execute.
func (e *Engine) Explain(ctx context.Context, q Query) (Plan, error) {
	if inner, ok := q.(Explain); ok {
		q = inner.Query
	}
	if q == nil {
		return Plan{}, fmt.Errorf("rem: no query")
	}
	res, err := e.Execute(ctx, Explain{q})
	if err != nil {
		return Plan{}, err
	}
	return *res.Plan, nil
}

func (e *Engine) plan(ctx context.Context, query Query) (Plan, error) {
	if query == nil {
		return Plan{}, fmt.Errorf("rem: no query")
	}
	p := Plan{Query: query.String(), QueryType: query.Verb(), Timeout: e.Timeout.String()}
	steps, notes, err := e.steps(ctx, query)
	p.Steps, p.Notes = steps, notes
	return p, err
}

func (e *Engine) steps(ctx context.Context, query Query) (steps []Step, notes []string, err error) {
	ix := e.indexes()
	switch q := query.(type) {
	case Lookup:
		return []Step{{
			Operation: fmt.Sprintf("read the rows of %s", count(len(q.Keys), "key")),
			Index:     ix.keys,
			Bound:     fmt.Sprintf("%s, %d at most; the own row, the tenant's shared and p8's of each kind", count(len(q.Keys), "key"), MaxKeys),
		}}, nil, nil
	case Fuzzy:
		threshold := q.Threshold
		if threshold == 0 {
			threshold = DefaultThreshold
		}
		steps = []Step{{
			Operation: fmt.Sprintf("rank keys and summaries%s by trigram similarity of %s or more", ofManual(q.Manual), formatFloat(threshold)),
			Index:     ix.similar,
			Bound:     rowsBound(limited(q.Limit, DefaultLimit)),
		}}
		return append(steps, loadSteps(q.Load, limited(q.Limit, DefaultLimit))...), nil, nil
	case Search:
		return e.searchSteps(ctx, q)
	case Traverse:
		return e.traverseSteps(ctx, q)
	case Select:
		step, err := e.selectStep(ctx, q)
		return []Step{step}, nil, err
	}
	return nil, nil, fmt.Errorf("rem: cannot explain a %T", query)
}

func (e *Engine) searchSteps(ctx context.Context, q Search) (steps []Step, notes []string, err error) {
	var res Result
	asks, err := e.searchQueries(q, &res)
	if err != nil {
		return nil, nil, err
	}
	ix := e.indexes()
	tables, bound := and(tablesOf(asks)), rowsBound(asks[0].Limit)
	for _, ask := range asks {
		if ask.Where == "" {
			break
		}
		step, err := e.selectStep(ctx, Select{Text: "SELECT id FROM " + ask.Table + " WHERE (" + ask.Where + "\n)"})
		if err != nil {
			return nil, nil, withoutPosition(err)
		}
		step.Operation = "choose rows of " + ask.Table + " by the condition, before they are ranked"
		step.Bound = "no more rows than the store ranks"
		steps = append(steps, step)
	}
	if e.Embedder != nil {
		steps = append(steps,
			Step{Operation: "make a vector of the text with " + e.Embedder.Name(), Index: "none", Bound: "one text"},
			Step{
				Operation: fmt.Sprintf("rank the rows of %s by cosine similarity of %s or more", tables, formatFloat(asks[0].MinSimilarity)),
				Index:     ix.vectors, Bound: bound,
			})
	} else {
		res.note("No embedding model is configured, so words alone decide.")
	}
	if asks[0].Hybrid || e.Embedder == nil {
		steps = append(steps, Step{Operation: "rank the rows of " + tables + " by the words of the text", Index: ix.words, Bound: bound})
	}
	if asks[0].Hybrid && e.Embedder != nil {
		steps = append(steps, Step{Operation: "fuse the two ranks (reciprocal rank fusion, k = 60)", Index: "none", Bound: bound})
	}
	steps = append(steps, Step{Operation: "put rows first whose titles the text names", Index: ix.keys, Bound: "half of the rows"})
	return steps, res.Notes, nil
}

func (e *Engine) traverseSteps(ctx context.Context, q Traverse) (steps []Step, notes []string, err error) {
	ix, limit, depth := e.indexes(), limited(q.Limit, DefaultNodes), limitedDepth(q)
	start := "find " + count(len(q.Keys), "row") + " to start from"
	if q.With != nil {
		if steps, notes, err = e.steps(ctx, q.With); err != nil {
			return nil, nil, err
		}
		start = "take the rows found to start from"
	}
	steps = append(steps, Step{Operation: start, Index: ix.keys, Bound: rowsBound(limit)})
	index := ix.keys
	way, queries := "edges", "one query"
	switch q.Direction {
	case In:
		index, way, queries = ix.edges, "edges to the rows", "two queries"
	case Both:
		index, way, queries = ix.keys+"; "+ix.edges, "edges of and to the rows", "two queries"
	}
	relation := "every relation"
	if len(q.Types) > 0 {
		relation = strings.Join(q.Types, ", ")
	}
	if q.Plan {
		summaryIndex := "none"
		if q.Direction != Out {
			summaryIndex = ix.edges
		}
		steps = append(steps, Step{Operation: "summarise the " + way + " of " + relation, Index: summaryIndex, Bound: fmt.Sprintf("%d edges a row", maxEdges)})
	} else {
		steps = append(steps, Step{
			Operation: "follow " + way + " of " + relation + ", nearest first, each row once",
			Index:     index,
			Bound:     fmt.Sprintf("%s, "+queries+" a level, %d keys a level, %s", count(depth, "level"), maxFrontier, rowsBound(limit)),
		})
	}
	return append(steps, loadSteps(q.Load, limit)...), notes, nil
}

// selectStep asks the database for its plan.
func (e *Engine) selectStep(ctx context.Context, q Select) (Step, error) {
	b := e.selectBounds(ctx, q)
	step := Step{
		Operation: "run the SELECT, read only, on what the caller may see",
		Index:     "as the database plans",
		Bound:     fmt.Sprintf("%s, %d bytes", rowsBound(b.Rows), b.Bytes),
	}
	b.Explain = true
	plan, err := e.Knowledge.Select(ctx, q.Text, b)
	for _, row := range plan.Rows {
		for _, line := range row {
			step.Engine = append(step.Engine, fmt.Sprint(line))
		}
	}
	return step, err
}

// withoutPosition drops the position of an error, because it is not one in the caller's text.
func withoutPosition(err error) error {
	if wrong := (*store.SelectError)(nil); errors.As(err, &wrong) {
		return &store.SelectError{Problem: wrong.Problem}
	}
	return err
}

func ofManual(manual bool) string {
	if manual {
		return " of p8's manual"
	}
	return ""
}

func loadSteps(load bool, limit int) []Step {
	if !load {
		return nil
	}
	return []Step{{Operation: "read the whole rows", Index: "primary keys of their tables", Bound: rowsBound(limit)}}
}

func rowsBound(n int) string { return count(n, "row") + " at most" }

// count returns a number with its noun, in the plural unless it is 1.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
