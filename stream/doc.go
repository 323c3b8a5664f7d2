// Package stream encodes the events of a run in the wire protocols of its clients.
//
// [New] makes the [Encoder] of a [Protocol]: OpenAI chat completion chunks, the events of
// OpenAI's Responses API, AG-UI 1.0 or older, the UI message stream of the Vercel AI SDK,
// or p8's own events. [Completion] and [Response] collect the same events into the one
// object of an answer that is not streamed. [SSE] is the connection below an encoder: it
// flushes every frame, sends a comment during silence, and fails when the client does not
// read.
//
// A [Reader] says which events the client has. An encoder gets every event from the first
// one on but does not write those again: a client that reconnects gets exactly the rest,
// and a client that answered a question gets the events after the pause.
//
// In chat completions text is a chunk that every client understands. Every other event
// (a tool call, an action, the metadata of the answer) is a typed event between the
// chunks, framed as the [Format] says. [Unnamed] frames are valid chunks with the
// event's fields beside the usual ones, which OpenAI's SDKs of every version ignore;
// [Polyglot] frames also have the event's name. No frame has an id; chunks carry the
// event's sequence number in the field seq. Calls of the client's own tools are real
// tool calls.
//
// Delegated agents appear in each protocol's own terms: as content and agent:tool names
// for OpenAI, as subagents in AG-UI, as preliminary outputs of the parent's call for the
// AI SDK. An event that a protocol has no term for is a typed frame, a CUSTOM event or a
// data part. testdata/transcripts shows them all.
//
// Encoders only translate: which text is the answer and what is stored are decided
// before.
package stream
