// Package knowledge has the commands that store knowledge and query it: upsert,
// query, ask and verify-links.
package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/prompt"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Query is p8 query.
type Query struct {
	Query []string `arg:"" optional:"" help:"A query of the REM dialect, such as 'LOOKUP sarah-chen'. Without it: one query a line, with history and completion on a terminal."`

	command.Caller
	form
}

// form has the flags of the form of a result.
type form struct {
	Format string `short:"f" default:"table" enum:"table,json,yaml,markdown" help:"Output format: table, json, yaml or markdown (${default})."`
	JSON   bool   `help:"Print JSON, like --format json."`
}

// format returns the form that was asked for.
func (f form) format() string {
	if f.JSON {
		return formatJSON
	}
	return f.Format
}

// Run answers the query of the arguments, or one a line from standard input.
func (c *Query) Run(a *command.App) error {
	if len(c.Query) > 0 && strings.TrimSpace(strings.Join(c.Query, " ")) == "" {
		return command.Usage(`the query is empty: give one, as in p8 query "LOOKUP getting-started"`)
	}
	return withEngine(a, c.Caller, func(ctx context.Context, _ *store.Store, e *rem.Engine) error {
		if len(c.Query) > 0 {
			return c.answer(ctx, a, e, strings.Join(c.Query, " "))
		}
		return c.loop(ctx, a, e)
	})
}

// withEngine calls fn with the engine of the REM dialect. It only reads, so it works while
// a server has the database.
func withEngine(a *command.App, who command.Caller, fn func(context.Context, *store.Store, *rem.Engine) error) error {
	return wiring.WithStore(a, who, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return errors.New("nothing is stored yet: teach p8 a folder with `p8 upsert FOLDER`, or start it with `p8 serve`")
		}
		cfg, err := a.Config()
		if err != nil {
			return err
		}
		model, err := wiring.NewEmbedder(cfg)
		if err != nil {
			return err
		}
		return fn(ctx, s, wiring.NewEngine(cfg, s, model, nil, a.QuietLogger(cfg)))
	})
}

// answer runs a query and prints its result. Ctrl-C cancels this query only.
func (c *Query) answer(ctx context.Context, a *command.App, e *rem.Engine, text string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	res, err := e.Run(ctx, text)
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		return command.Fail(command.ExitInterrupted, errors.New("stopped"))
	case err != nil:
		return explainQuery(text, err)
	}
	for _, note := range res.Notes {
		a.Say("%s", note)
	}
	return printResult(a.Stdout, c.format(), res)
}

// explainQuery adds to a syntax error the query with a mark at the mistake.
func explainQuery(text string, err error) error {
	var syntax *rem.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.Column < 1 || strings.ContainsAny(text, "\n\t") || len(text) > show.Widest {
		return command.Fail(command.ExitUsage, err)
	}
	return command.Usage("%v\n  %s\n  %s^", err, show.Visible(text), strings.Repeat(" ", syntax.Column-1))
}

// loop answers one query a line until the input ends, failed ones included.
func (c *Query) loop(ctx context.Context, a *command.App, e *rem.Engine) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	p := prompt.New(a, "rem> ", filepath.Join(cfg.DataDir, datadir.QueryHistory), queryWords())
	failed := false
	// Only a script needs the exit code: a person has read the error.
	ended := func() error {
		if failed && p.Editor == nil {
			return command.ErrSilent
		}
		return nil
	}
	for {
		line, err := p.Line()
		switch {
		case errors.Is(err, prompt.ErrAborted):
			continue
		case errors.Is(err, io.EOF):
			return ended()
		case err != nil:
			return err
		}
		switch line = strings.TrimSpace(line); strings.ToLower(line) {
		case "":
			continue
		case "exit", "quit", `\q`:
			return ended()
		case "help", `\h`, "?":
			fmt.Fprintln(a.Stdout, rem.Grammar())
			continue
		}
		if err := c.answer(ctx, a, e, line); err != nil {
			failed = true
			a.Report(err)
		}
	}
}

// printResult prints the result of a query.
func printResult(w io.Writer, format string, res rem.Result) error {
	switch format {
	case formatJSON:
		return show.JSON(w, res)
	case formatYAML:
		return show.YAML(w, res)
	}
	g, err := gridOf(res)
	if err != nil {
		return err
	}
	if len(g.Rows) == 0 {
		nothing := "nothing found"
		if len(res.Suggestions) > 0 {
			nothing += "; near: " + strings.Join(res.Suggestions, ", ")
		}
		_, err := fmt.Fprintln(w, nothing)
		return err
	}
	if format == formatMarkdown {
		return g.Markdown(w)
	}
	return g.Table(w)
}

// gridOf returns a table with columns for the kind of a result.
func gridOf(res rem.Result) (show.Grid, error) {
	switch {
	case res.Plan != nil:
		return planGrid(*res.Plan), nil
	case res.Selection != nil:
		g := show.Grid{Columns: res.Selection.Columns}
		for _, row := range res.Selection.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = show.Cell(v)
			}
			g.Rows = append(g.Rows, cells)
		}
		return g, nil
	case len(res.EdgeSummary) > 0:
		g := show.Grid{Columns: []string{"relation", "count", "targets"}}
		for _, s := range res.EdgeSummary {
			g.Rows = append(g.Rows, []string{arrow(s.Relation, s.Direction), strconv.Itoa(s.Count), strings.Join(s.Targets, ", ")})
		}
		return g, nil
	case res.QueryType == rem.TRAVERSE:
		g := show.Grid{Columns: []string{"depth", "relation", "weight", "key", "type", "summary"}}
		for _, r := range res.Results {
			if r.Hop == nil {
				continue
			}
			g.Rows = append(g.Rows, []string{strconv.Itoa(r.Depth), arrow(r.Relation, r.Direction), show.Score(r.Weight), r.Key, r.EntityType, summaryOf(r)})
		}
		return g, nil
	}
	g := show.Grid{Columns: []string{"key", "type", "score", "summary"}}
	for _, r := range res.Results {
		kind := r.EntityType
		if r.Table != "" {
			g.Columns[1], kind = "table", r.Table
		}
		g.Rows = append(g.Rows, []string{r.Key, kind, show.Score(r.Score), summaryOf(r)})
	}
	return g, nil
}

// arrow marks the relation of an edge that points to the row before.
func arrow(relation string, d rem.Direction) string {
	if d == rem.In {
		return "← " + relation
	}
	return relation
}

// summaryOf returns the text of a row for a table.
func summaryOf(r rem.Row) string {
	if r.Summary != "" {
		return r.Summary
	}
	var data struct{ Summary, Content, Description string }
	_ = json.Unmarshal(r.Data, &data)
	for _, s := range []string{data.Summary, data.Content, data.Description} {
		if s != "" {
			return s
		}
	}
	return string(r.Data)
}

// planGrid returns a table of the result of EXPLAIN.
func planGrid(p rem.Plan) show.Grid {
	g := show.Grid{Columns: []string{"step", "reads", "bound"}}
	for _, s := range p.Steps {
		g.Rows = append(g.Rows, []string{s.Operation, s.Index, s.Bound})
		for _, line := range s.Engine {
			g.Rows = append(g.Rows, []string{"", line, ""})
		}
	}
	return g
}

// The formats of an answer.
const (
	formatTable    = "table"
	formatJSON     = "json"
	formatYAML     = "yaml"
	formatMarkdown = "markdown"
)

// queryWords returns what Tab completes: the words of the dialect and the tables.
func queryWords() []string {
	words := strings.Fields("LOOKUP FUZZY SEARCH TRAVERSE SQL EXPLAIN SELECT FROM WHERE CATEGORY FIELD LIMIT THRESHOLD " +
		"MIN_SIMILARITY HYBRID TYPE DIRECTION DEPTH LOAD WITH ORDER BY exit quit help")
	return append(words, rem.Tables()...)
}
