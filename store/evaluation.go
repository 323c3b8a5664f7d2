package store

import (
	"context"
	"encoding/json"
	"time"
)

// Evaluation is one judged run of agents over a set of cases.
type Evaluation struct {
	ID       string `json:"id"`
	TenantID string `json:"-"`
	UserID   string `json:"user_id,omitempty"`
	Name     string `json:"name"`
	// Experiment is the name of the experiment that it is a run of, "" for none.
	Experiment string `json:"experiment,omitempty"`
	Status     string `json:"status"`
	// Plan says what is run and judged, Summary what came out: JSON objects that the store
	// does not read.
	Plan      json.RawMessage `json:"plan"`
	Summary   json.RawMessage `json:"summary,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
}

// EvaluationResult is what came of one case; Data is a JSON object that the store does not read.
type EvaluationResult struct {
	Seq  int64           `json:"seq"`
	Data json.RawMessage `json:"data"`
}

// EvaluationFilter chooses evaluations.
type EvaluationFilter struct {
	// Experiment and Name choose by name; "" matches all.
	Experiment, Name string
	// Limit is 50 by default and 500 at most. Cursor is the next of the previous page.
	Limit  int
	Cursor string
}

const evaluationColumns = `tenant_id, id, user_id, name, experiment, status, plan, summary, created_at, updated_at, ended_at`

func (x *Evaluation) columns() []any {
	return []any{&x.TenantID, &x.ID, &x.UserID, &x.Name, &x.Experiment, &x.Status, &x.Plan, &x.Summary, &x.CreatedAt, &x.UpdatedAt, &x.EndedAt}
}

// Evaluations are the caller's evaluations.
type Evaluations struct{ store *Store }

// Evaluations returns the caller's evaluations.
func (s *Store) Evaluations() Evaluations { return Evaluations{s} }

// Begin stores a new evaluation, and sets its ID.
func (e Evaluations) Begin(ctx context.Context, x *Evaluation) error {
	if err := x.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return e.store.write(ctx, "begin an evaluation", func(c Conn, by caller) (err error) {
		if x.ID, err = newID(); err != nil {
			return err
		}
		x.TenantID, x.UserID, x.CreatedAt = by.TenantID, by.UserID, e.store.clock()
		x.UpdatedAt, x.EndedAt = x.CreatedAt, time.Time{}
		_, err = c.Exec(ctx, `INSERT INTO evaluations (`+evaluationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)`,
			by.TenantID, x.ID, by.user, x.Name, null(x.Experiment), x.Status, by.seal.value("plan", x.Plan), by.seal.value("summary", nullJSON(x.Summary)), x.CreatedAt, x.UpdatedAt)
		return err
	})
}

func (x *Evaluation) check() error {
	if !printable(x.Name, maxName) || !printable(x.Status, maxName) || x.Experiment != "" && !printable(x.Experiment, maxName) {
		return invalidf("the name, the experiment and the status of an evaluation must be 1-%d printable characters", maxName)
	}
	if len(x.Plan) == 0 {
		x.Plan = json.RawMessage(`{}`)
	}
	if err := checkObject("plan", &x.Plan); err != nil {
		return err
	}
	return checkObject("summary", &x.Summary)
}

// Change stores the status, the summary and the end of an evaluation.
func (e Evaluations) Change(ctx context.Context, x *Evaluation) error {
	if err := x.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return e.store.write(ctx, "change an evaluation", func(c Conn, by caller) error {
		x.UpdatedAt, x.EndedAt = e.store.clock(), x.EndedAt.UTC().Truncate(time.Microsecond)
		n, err := c.Exec(ctx, `UPDATE evaluations SET status = $4, summary = $5, ended_at = $6, updated_at = $7`+ownRow,
			by.TenantID, storable(x.ID), by.user, x.Status, by.seal.value("summary", nullJSON(x.Summary)), timeOrNull(x.EndedAt), x.UpdatedAt)
		if err == nil && n == 0 {
			err = notFound("evaluation", x.ID)
		}
		return err
	})
}

// Get returns an evaluation of the caller.
func (e Evaluations) Get(ctx context.Context, id string) (x Evaluation, err error) {
	err = e.store.read(ctx, "read an evaluation", func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+evaluationColumns+` FROM evaluations`+ownRow, x.columns(), by.TenantID, storable(id), by.user)
		if err == nil && !found {
			err = notFound("evaluation", id)
		}
		return err
	})
	return x, err
}

// List lists the caller's evaluations, the newest first, and the cursor of the next page.
func (e Evaluations) List(ctx context.Context, f EvaluationFilter) (list []Evaluation, next string, err error) {
	limit := page(f.Limit, 50, 500)
	err = e.store.read(ctx, "list evaluations", func(c Conn, by caller) error {
		q := newQuery(`SELECT ` + evaluationColumns + ` FROM evaluations WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.owned(by.user)
		for _, x := range [][2]string{{"experiment", f.Experiment}, {"name", f.Name}} {
			if x[1] != "" {
				q.add(` AND ` + x[0] + ` = `).arg(storable(x[1]))
			}
		}
		if err := q.beyond(f.Cursor, "created_at", "<"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at DESC, id DESC LIMIT `).arg(limit + 1)
		list = nil
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, Evaluation{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(x *Evaluation) (time.Time, string) { return x.CreatedAt, x.ID })
	return list, next, nil
}

// Delete deletes an evaluation of the caller with its results.
func (e Evaluations) Delete(ctx context.Context, id string) error {
	return e.store.write(ctx, "delete an evaluation", func(c Conn, by caller) error {
		n, err := c.Exec(ctx, `DELETE FROM evaluations`+ownRow, by.TenantID, storable(id), by.user)
		if err == nil && n == 0 {
			err = notFound("evaluation", id)
		}
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM evaluation_results WHERE tenant_id = $1 AND evaluation_id = $2`, by.TenantID, id)
		}
		return err
	})
}

// PutResults stores results of an evaluation of the caller. A result replaces the one with its
// number.
func (e Evaluations) PutResults(ctx context.Context, id string, list ...EvaluationResult) error {
	for i := range list {
		if err := checkObject("data", &list[i].Data); err != nil {
			return missingFirst(ctx, err)
		}
	}
	return e.store.write(ctx, "store results of an evaluation", func(c Conn, by caller) error {
		n, err := c.Exec(ctx, `UPDATE evaluations SET updated_at = $4`+ownRow, by.TenantID, storable(id), by.user, e.store.clock())
		if err == nil && n == 0 {
			err = notFound("evaluation", id)
		}
		if err != nil {
			return err
		}
		for _, x := range list {
			if err := c.Later(ctx, Statement{SQL: `INSERT INTO evaluation_results (tenant_id, evaluation_id, seq, data) VALUES ($1, $2, $3, $4)
				ON CONFLICT (tenant_id, evaluation_id, seq) DO UPDATE SET data = excluded.data`, Args: []any{by.TenantID, id, x.Seq, by.seal.value("data", x.Data)}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Results lists results of an evaluation of the caller by number, those after a number: 500
// when limit is 0, 1000 at most.
func (e Evaluations) Results(ctx context.Context, id string, after int64, limit int) (list []EvaluationResult, err error) {
	err = e.store.read(ctx, "read results of an evaluation", func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT 1 FROM evaluations`+ownRow, []any{new(int64)}, by.TenantID, storable(id), by.user)
		if err == nil && !found {
			err = notFound("evaluation", id)
		}
		if err != nil {
			return err
		}
		list = nil
		return c.Query(ctx, `SELECT seq, data FROM evaluation_results WHERE tenant_id = $1 AND evaluation_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`, func(r Row) error {
			list = append(list, EvaluationResult{})
			x := &list[len(list)-1]
			return r.Scan(&x.Seq, &x.Data)
		}, by.TenantID, id, after, page(limit, 500, 1000))
	})
	return list, err
}

// nullJSON stores an empty document as NULL.
func nullJSON(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return raw
}
