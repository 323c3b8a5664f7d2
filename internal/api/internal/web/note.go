package web

import "net/http"

// Noter is a response that notes for the metrics what it is: the code of a problem, or the
// protocol of a stream.
type Noter interface {
	NoteProblem(code string)
	NoteProtocol(protocol string)
}

// NoteProblem notes that a response is a problem with a code.
func NoteProblem(w http.ResponseWriter, code string) {
	if n, ok := w.(Noter); ok {
		n.NoteProblem(code)
	}
}

// NoteProtocol notes in which protocol a response streams. It comes before the headers are sent.
func NoteProtocol(w http.ResponseWriter, protocol string) {
	if n, ok := w.(Noter); ok {
		n.NoteProtocol(protocol)
	}
}
