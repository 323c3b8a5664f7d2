// Command p8 turns documents into agents: `p8 serve` is the server, `p8 chat`
// talks to an agent without one, `p8 help` lists the rest.
//
// One file holds one verb. wire.go is the one place where the parts are wired
// together.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }
