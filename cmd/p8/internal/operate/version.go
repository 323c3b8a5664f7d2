package operate

import (
	"fmt"
	"runtime"

	"github.com/p8-org/p8/cmd/p8/internal/command"
)

// Version is p8 version.
type Version struct{}

// Run prints the version, Go's version and the platform.
func (Version) Run(a *command.App) error {
	_, err := fmt.Fprintf(a.Stdout, "p8 %s %s %s/%s\n", command.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
