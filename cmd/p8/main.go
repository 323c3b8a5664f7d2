// Command p8 turns documents into agents: `p8 serve` is the server, `p8 chat`
// talks to an agent without one, `p8 help` lists the rest.
//
// cli.go is the list of the commands. Each command is in the package of what it is
// about, in internal; internal/wiring builds the parts of p8 that commands use.
package main

import (
	"os"
	"time"

	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/internal/zone"
)

func main() {
	if child.Wanted(os.Args[1:]) { // p8 starts itself to read a file
		os.Exit(child.Main(os.Args[1:], os.Stdin, os.Stdout, os.Exit))
	}
	time.Local = zone.Local(os.Getenv("TZ"))
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
