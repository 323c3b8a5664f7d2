package store

import (
	"context"
	"math"
	"time"
)

// maxProblem bounds the stored text of a failure, in characters.
const maxProblem = 500

// Queued gets a value after a commit of this process that queued texts for
// their vectors. It only shortens waiting: other processes queue too.
func (m Maintenance) Queued() <-chan struct{} { return m.store.queued }

// EmbeddingTasks lists due tasks with their texts, the oldest first, at most limit (0 is
// 100). They stay queued until PutEmbeddings, so two workers may get the same task. It
// drops tasks of deleted rows.
func (m Maintenance) EmbeddingTasks(ctx context.Context, limit int) ([]EmbeddingTask, error) {
	limit = page(limit, 100, 10_000)
	var due, gone []EmbeddingTask
	err := m.read(ctx, "read embedding tasks", func(c Conn) error {
		var all []EmbeddingTask
		if err := c.Query(ctx, `SELECT `+taskColumns+` FROM embedding_queue WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
			func(r Row) error {
				all = append(all, EmbeddingTask{})
				return r.Scan(all[len(all)-1].columns()...)
			}, m.store.clock(), limit); err != nil {
			return err
		}
		for _, t := range all {
			text, _, err := currentText(ctx, c, t, "")
			switch {
			case err != nil:
				return err
			case text == "":
				gone = append(gone, t)
			default:
				t.Text, t.Hash = text, m.store.hash(t.TenantID, text)
				due = append(due, t)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return due, err
	}
	return due, m.write(ctx, "drop embedding tasks", func(c Conn) error {
		for _, t := range gone {
			if err := t.finish(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

const taskColumns = `tenant_id, table_name, entity_id, field_name, revision, attempts, error, due_at`

func (t *EmbeddingTask) columns() []any {
	return []any{&t.TenantID, &t.Table, &t.EntityID, &t.Field, &t.revision, &t.Attempts, &t.Error, &t.DueAt}
}

// currentText returns the text and the user of the task's row; the text is "" if the row
// is gone.
func currentText(ctx context.Context, c Conn, t EmbeddingTask, lock string) (text, user string, err error) {
	table := tableNamed(t.Table)
	if table == nil || table.EmbeddingField != t.Field || t.Field == "" {
		return "", "", nil
	}
	_, err = one(ctx, c, `SELECT `+table.EmbeddingField+`, user_id FROM `+table.Name+`
		WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`+lock, []any{&text, &user}, t.TenantID, t.EntityID)
	return text, user, err
}

// finish removes the task, unless a newer one has replaced it.
func (t EmbeddingTask) finish(ctx context.Context, c Conn) error {
	_, err := c.Exec(ctx, `DELETE FROM embedding_queue
		WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3 AND field_name = $4 AND revision = $5`,
		t.TenantID, t.Table, t.EntityID, t.Field, t.revision)
	return err
}

// PutEmbeddings stores the vectors of texts and removes their tasks, in one transaction;
// stored counts them. It skips a task whose row is gone or whose text has another hash
// than Task.Hash: a newer task exists. A vector of another dimension, or without a
// direction (zeros, NaN), is ErrInvalid, and nothing is stored.
func (m Maintenance) PutEmbeddings(ctx context.Context, model string, dimensions int, done ...Embedding) (stored int, err error) {
	if !printable(model, maxName) {
		return 0, invalidf("an embedding model's name must be 1-%d printable characters", maxName)
	}
	for _, e := range done {
		if err := checkVector(e.Vector, dimensions); err != nil {
			return 0, err
		}
	}
	var changes []change
	err = m.write(ctx, "store embeddings", func(c Conn) error {
		stored = 0
		now := m.store.clock()
		for _, e := range done {
			t := e.Task
			text, user, err := currentText(ctx, c, t, m.store.dialect.lock())
			if err != nil {
				return err
			}
			if text == "" || m.store.hash(t.TenantID, text) != t.Hash {
				continue
			}
			// Vectors of an older text are stale, whichever model made them.
			if _, err := c.Exec(ctx, `DELETE FROM embeddings
				WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3 AND field_name = $4 AND content_hash <> $5`,
				t.TenantID, t.Table, t.EntityID, t.Field, t.Hash); err != nil {
				return err
			}
			if _, err := c.Exec(ctx, `INSERT INTO embeddings
				(tenant_id, table_name, entity_id, field_name, model, dimensions, content_hash, user_id, embedding, created_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
				ON CONFLICT (tenant_id, table_name, model, entity_id, field_name) DO UPDATE SET dimensions = excluded.dimensions,
				content_hash = excluded.content_hash, user_id = excluded.user_id, embedding = excluded.embedding,
				created_at = excluded.created_at`,
				t.TenantID, t.Table, t.EntityID, t.Field, model, dimensions, t.Hash, null(user), e.Vector, now); err != nil {
				return err
			}
			if err := t.finish(ctx, c); err != nil {
				return err
			}
			changes = append(changes, change{t.TenantID, keyOwner(tableNamed(t.Table), user), tableNamed(t.Table).Type, t.EntityID})
			stored++
		}
		return nil
	})
	m.store.vectorsChanged(changes...)
	return stored, err
}

func checkVector(v []float32, dimensions int) error {
	if len(v) != dimensions || dimensions == 0 {
		return invalidf("a vector has %d dimensions, not %d", len(v), dimensions)
	}
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return invalidf("a vector has no direction")
	}
	return nil
}

// FailEmbedding records the failure of a task and the time of its next try, unless a newer
// task has replaced it.
func (m Maintenance) FailEmbedding(ctx context.Context, t EmbeddingTask, problem string, due time.Time) error {
	if err := cleanText("problem", &problem); err != nil {
		return err
	}
	return m.write(ctx, "note a failed embedding", func(c Conn) error {
		_, err := c.Exec(ctx, `UPDATE embedding_queue SET attempts = attempts + 1, error = $6, due_at = $7
			WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3 AND field_name = $4 AND revision = $5`,
			t.TenantID, t.Table, t.EntityID, t.Field, t.revision, clip(problem, maxProblem), due)
		return err
	})
}

// QueueMissing queues rows with a text and without a vector of the model, at most limit (0
// is 1000), and counts them. It is for a new model. It reads whole tables.
func (m Maintenance) QueueMissing(ctx context.Context, model string, limit int) (queued int64, err error) {
	limit = page(limit, 1000, 100_000)
	err = m.write(ctx, "queue missing embeddings", func(c Conn) error {
		queued = 0
		now := m.store.clock()
		for _, t := range tables {
			if t.EmbeddingField == "" || t.new == nil || queued >= int64(limit) {
				continue
			}
			n, err := c.Exec(ctx, `INSERT INTO embedding_queue
				(tenant_id, table_name, entity_id, field_name, revision, attempts, due_at, created_at)
				SELECT x.tenant_id, '`+t.Name+`', x.id, '`+t.EmbeddingField+`', $2, 0, $3, $3 FROM `+t.Name+` x
				WHERE x.deleted_at IS NULL AND x.`+t.EmbeddingField+` <> '' AND NOT EXISTS (SELECT 1 FROM embeddings e
				WHERE e.tenant_id = x.tenant_id AND e.table_name = '`+t.Name+`' AND e.model = $1 AND e.entity_id = x.id)
				AND NOT EXISTS (SELECT 1 FROM embedding_queue q
				WHERE q.tenant_id = x.tenant_id AND q.table_name = '`+t.Name+`' AND q.entity_id = x.id)
				LIMIT $4 ON CONFLICT DO NOTHING`, model, now.UnixMicro(), now, int64(limit)-queued)
			if err != nil {
				return err
			}
			queued += n
		}
		return nil
	})
	m.store.announce(nil, err == nil && queued > 0)
	return queued, err
}

// EmbeddingStatus returns the progress of the embedding and its ten last failures.
func (m Maintenance) EmbeddingStatus(ctx context.Context) (EmbeddingStatus, error) {
	st := EmbeddingStatus{Models: make(map[string]int64)}
	err := m.read(ctx, "read the state of embedding", func(c Conn) error {
		if err := c.Query(ctx, `SELECT model, count(*) FROM embeddings GROUP BY model`, func(r Row) error {
			var model string
			var n int64
			err := r.Scan(&model, &n)
			st.Models[model] = n
			return err
		}); err != nil {
			return err
		}
		if _, err := one(ctx, c, `SELECT count(*), count(error) FROM embedding_queue`, []any{&st.Waiting, &st.Failed}); err != nil {
			return err
		}
		return c.Query(ctx, `SELECT `+taskColumns+` FROM embedding_queue WHERE error IS NOT NULL ORDER BY due_at DESC LIMIT 10`,
			func(r Row) error {
				st.Last = append(st.Last, EmbeddingTask{})
				return r.Scan(st.Last[len(st.Last)-1].columns()...)
			})
	})
	return st, err
}

// PrepareModel creates the index for a model's vectors, on an engine with such indexes.
func (m Maintenance) PrepareModel(ctx context.Context, model string, dimensions int) error {
	if ix, ok := m.store.engine.(Indexed); ok {
		return fail("prepare an embedding model", ix.PrepareModel(ctx, model, dimensions))
	}
	return nil
}
