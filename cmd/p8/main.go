// Command p8 turns documents into agents: `p8 serve` is the server, `p8 chat`
// talks to an agent without one, `p8 help` lists the rest.
//
// One file holds one verb. wire.go is the one place where the parts are wired
// together.
package main

import (
	"os"

	"github.com/p8-org/p8/internal/ingest/child"
)

func main() {
	if child.Wanted(os.Args[1:]) { // p8 starts itself to read a file
		os.Exit(child.Main(os.Args[1:], os.Stdin, os.Stdout, os.Exit))
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
