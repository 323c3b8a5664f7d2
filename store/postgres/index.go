package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/p8-org/p8/store"
)

// The limits of pgvector's HNSW: vector up to 2000 dimensions, halfvec up to 4000.
const (
	maxVectorIndex  = 2000
	maxHalfvecIndex = 4000
)

// embedded are the tables whose rows have vectors and words.
var embedded = []string{"resources", "ontologies", "moments", "schemas"}

// checkTable returns an error unless the name is that of a known table, which may be part
// of a statement.
func checkTable(table string) error {
	if !slices.Contains(embedded, table) {
		return fmt.Errorf("%w: the rows of the table %.64q have no embedding", store.ErrInvalid, table)
	}
	return nil
}

// modelName matches names that may be literals in the predicate of an index, which takes
// no parameters. They have no quote and no backslash.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+ -]{0,199}$`)

// vectorType returns the type in which vectors of that many dimensions are indexed. It is "" for
// vectors that no index can hold, which are compared one by one.
func vectorType(dimensions int) string {
	switch {
	case dimensions <= maxVectorIndex:
		return "vector"
	case dimensions <= maxHalfvecIndex:
		return "halfvec"
	}
	return ""
}

// indexName returns the name of the index for a table's vectors of a model. It has a hash of
// the model's name, because the names of indexes are short.
func indexName(table, model string, dimensions int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", model, dimensions))
	return "embeddings_" + table + "_" + hex.EncodeToString(sum[:8])
}

// checkModel refuses a model that no index can be named for.
func checkModel(model string, dimensions int) error {
	if !modelName.MatchString(model) {
		return fmt.Errorf("%w: the name of an embedding model is 1-200 of letters, digits, blanks and . _ : / @ + -, not %.64q", store.ErrInvalid, model)
	}
	if dimensions < 1 || dimensions > 16000 {
		return fmt.Errorf("%w: a vector has 1-16000 dimensions, not %d", store.ErrInvalid, dimensions)
	}
	return nil
}

// PrepareModel implements store.Indexed. It builds an HNSW index for each table with
// vectors, beside running reads and writes (CREATE INDEX CONCURRENTLY). One replica
// builds while the others wait. It removes the index of an interrupted build and builds
// it again.
func (e *engine) PrepareModel(ctx context.Context, model string, dimensions int) error {
	if err := checkModel(model, dimensions); err != nil {
		return err
	}
	if vectorType(dimensions) == "" {
		return nil
	}
	missing, err := e.missingIndexes(ctx, model, dimensions)
	if err != nil || len(missing) == 0 {
		return err
	}
	p, release, err := e.writers.take(ctx)
	if err != nil {
		return translate(ctx, err)
	}
	defer release()
	c := p.Conn()
	unlock, err := lock(ctx, c, lockIndexes)
	if err != nil {
		return err
	}
	defer unlock()
	// Another replica may have built them since.
	if missing, err = e.missingIndexes(ctx, model, dimensions); err != nil {
		return err
	}
	for _, table := range missing {
		name, start := indexName(table, model, dimensions), time.Now()
		if _, err := c.Exec(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+name); err != nil {
			return translate(ctx, err)
		}
		typ := vectorType(dimensions)
		if _, err := c.Exec(ctx, fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON embeddings
			USING hnsw ((embedding::%s(%d)) %s_cosine_ops) WITH (m = 16, ef_construction = 128)
			WHERE table_name = '%s' AND model = '%s' AND dimensions = %d`,
			name, typ, dimensions, typ, table, model, dimensions)); err != nil {
			return translate(ctx, err)
		}
		e.log.DebugContext(ctx, "vector index built", "table", table, "model", model, "dimensions", dimensions, "duration", time.Since(start))
	}
	return nil
}

// missingIndexes returns the tables without a valid index for a model.
func (e *engine) missingIndexes(ctx context.Context, model string, dimensions int) ([]string, error) {
	have := make(map[string]bool)
	err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, `SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
			WHERE x.indrelid = 'embeddings'::regclass AND x.indisvalid`, func(r store.Row) error {
			var name string
			err := r.Scan(&name)
			have[name] = true
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, table := range embedded {
		if !have[indexName(table, model, dimensions)] {
			missing = append(missing, table)
		}
	}
	return missing, nil
}
