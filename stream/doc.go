// Package stream speaks the wire protocols: the events of a run go in, the
// bytes of a protocol come out.
//
// [OpenAI] writes a run as a stream of OpenAI chat completion chunks.
// [Completion] gathers the same events into the one object of a response that
// is not streamed. [SSE] is the connection under any encoder: it flushes every
// frame, sends a comment while nothing happens and gives up on a client that
// does not read.
//
// Text is a chunk that every OpenAI client understands. Everything else (a tool
// call, an action, the metadata of the answer) is a typed event between the
// chunks, framed as the [Format] says; [Polyglot] frames are named events and
// valid chunks at the same time, so that a client which knows nothing of p8
// skips them and one which does gets them all.
//
// Encoders only print. Which text counts as the answer and what is stored was
// decided before an event comes here.
package stream
