// Package child parses PDF, DOCX and HTML files in child processes, so that a hostile file
// costs no more than the limits of its process:
//
//	pool := child.New(child.Options{})
//	defer pool.Close()
//	in, err := ingest.New(ingest.Options{Store: …, Extractor: pool})
//
// A child runs the same program with the arguments [Verb], a memory limit and a time
// limit. The main function calls [Main] before it does anything else:
//
//	if child.Wanted(os.Args[1:]) {
//		os.Exit(child.Main(os.Args[1:], os.Stdin, os.Stdout, os.Exit))
//	}
//
// The child gets no environment and reads files from its standard input. It starts in 20
// to 50 ms, so it is reused until it has been idle for 30 s, has parsed many files, or
// uses much memory.
//
// # Limits
//
// The parent kills the child when a file's time is over or its context ends. The kernel
// bounds memory where it can (RLIMIT_DATA on Linux; RLIMIT_AS would count the address
// space that Go only reserves). On all systems the child checks its memory every few
// milliseconds and exits above the limit. RLIMIT_CPU bounds CPU time in case the parent
// is dead or stopped. Both sides bound the text.
//
// A child exits with its parent: its standard input ends, and on Linux the kernel kills it.
package child
