package documents

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/llm/models"
)

// Models is p8 models.
type Models struct {
	Filter string `arg:"" optional:"" help:"Only models whose name contains this, such as claude or gemini:."`
	JSON   bool   `help:"Print JSON."`
}

// Run prints the default model and the table of models.
func (c *Models) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	table, err := wiring.NewPrices(cfg)
	if err != nil {
		return err
	}
	filter := strings.ToLower(c.Filter)
	var list []models.Info
	for _, info := range table.List() {
		if strings.Contains(strings.ToLower(info.Name), filter) {
			list = append(list, info)
		}
	}
	if c.JSON {
		return show.JSON(a.Stdout, append([]models.Info{}, list...))
	}
	_, choice := wiring.NewModels(context.Background(), cfg, wiring.ModelOptions{})
	a.Say("the default is %s: %s", choice.Model, choice.Reason)
	if len(list) == 0 {
		a.Say("no model in the table contains %q; a model that is not in the table works too, without a price", c.Filter)
		return nil
	}
	g := show.Grid{Columns: []string{"model", "context", "output", "$/M in", "cached", "out", "can"}}
	for _, info := range list {
		g.Rows = append(g.Rows, []string{
			info.Name, count1000(info.Context), count1000(info.Output),
			dollars(info, info.Price.Input), dollars(info, info.Price.Cached), dollars(info, info.Price.Output), abilities(info),
		})
	}
	return g.Table(a.Stdout)
}

// count1000 formats a number of tokens in thousands, "" if it is unknown.
func count1000(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

func dollars(info models.Info, price float64) string {
	if !info.Priced {
		return ""
	}
	return strconv.FormatFloat(price, 'f', -1, 64)
}

func abilities(info models.Info) string {
	var can []string
	for _, ability := range []struct {
		name string
		yes  bool
	}{{"tools", info.Tools}, {"images", info.Images}, {"documents", info.Documents}, {"reasoning", info.Reasoning}} {
		if ability.yes {
			can = append(can, ability.name)
		}
	}
	return strings.Join(can, ",")
}
