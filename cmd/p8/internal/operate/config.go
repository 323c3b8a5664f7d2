package operate

import (
	"fmt"
	"text/tabwriter"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// Config is p8 config.
type Config struct {
	JSON bool `help:"Print JSON."`
}

// Run prints each setting with its value and origin. Secrets are masked.
func (c *Config) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if c.JSON {
		err = show.JSON(a.Stdout, cfg.Entries())
	} else {
		w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SETTING\tVALUE\tORIGIN")
		for _, e := range cfg.Entries() {
			value := e.Value
			if value == "" {
				value = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, value, e.Origin)
		}
		err = w.Flush()
	}
	a.WarnUnknown(cfg)
	return err
}
