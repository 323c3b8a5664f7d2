package operate

import (
	"fmt"
	"runtime"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// Version is p8 version.
type Version struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the version, Go's version and the platform.
func (c *Version) Run(a *command.App) error {
	if c.JSON {
		return show.JSON(a.Stdout, map[string]string{
			"version": command.Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
	_, err := fmt.Fprintf(a.Stdout, "p8 %s %s %s/%s\n", command.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
