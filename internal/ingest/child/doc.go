// Package child reads PDF, DOCX and HTML files in processes of their own, so that
// a hostile file costs no more than its process is allowed:
//
//	pool := child.New(child.Options{})
//	defer pool.Close()
//	in, err := ingest.New(ingest.Options{Store: …, Extractor: pool})
//
// A process is the same program with the arguments [Verb], a memory limit and a
// time limit; its main function hands over to [Main] before it does anything else:
//
//	if child.Wanted(os.Args[1:]) {
//		os.Exit(child.Main(os.Args[1:], os.Stdin, os.Stdout, os.Exit))
//	}
//
// It gets no environment, and files arrive on its standard input one after the
// other. A process starts in 20 to 50 ms, so it is used again for the next file,
// until it has been idle for half a minute, has read many files, or has grown.
//
// # Limits
//
// The wall clock of a file is kept by the parent, which kills the process.
// It does the same when the context of the file ends. Memory is kept by the kernel
// where it can (RLIMIT_DATA on Linux; RLIMIT_AS would count the address space that
// Go only reserves), and everywhere by the process itself, which looks at its own
// memory every few milliseconds and ends above the limit. CPU time is bounded by
// RLIMIT_CPU, should the parent be gone or stopped. The text is bounded by both
// sides.
//
// A process ends with its parent: its standard input is at its end then, and on
// Linux the kernel kills it.
package child
