// Package stream speaks the wire protocols: the events of a run go in, the
// bytes of a protocol come out.
//
// [New] makes the [Encoder] of a [Protocol]: OpenAI chat completion chunks, AG-UI
// 1.0, the UI message stream of the Vercel AI SDK, or p8's own events.
// [Completion] gathers the same events into the one object of a response that is
// not streamed. [SSE] is the connection under any encoder: it flushes every
// frame, sends a comment while nothing happens, and closes when the client does
// not read.
//
// A [Reader] says what of the run the client has already. The encoder is given
// every event from the first one on and holds back what was sent: so one that
// was cut off gets exactly the rest, and one that answered a question gets what
// follows the pause.
//
// In OpenAI's protocol text is a chunk that every client understands. Everything
// else (a tool call, an action, the metadata of the answer) is a typed event
// between the chunks, framed as the [Format] says. [Unnamed] frames are valid
// chunks with the event's fields beside the usual ones, which OpenAI's SDKs of
// every age read past; [Polyglot] frames also have the event's name. No frame has
// an id; chunks carry the event's number as seq. Calls of the client's own tools
// are real tool calls.
//
// Delegated agents speak in every protocol's own terms: content and agent:tool
// names for OpenAI, subagents for AG-UI, preliminary outputs of the call that
// asked for the AI SDK. Where a protocol knows no word for an event it is a typed
// frame, a CUSTOM event, a data part. testdata/transcripts shows them all.
//
// Encoders only print. Which text counts as the answer and what is stored was
// decided before an event comes here.
package stream
