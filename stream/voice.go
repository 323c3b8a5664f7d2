package stream

import (
	"path"
	"strconv"

	"github.com/p8-org/p8/event"
)

// voice is one run of an AG-UI stream: the root or a delegated one.
type voice struct {
	// run is the subagentRunId, "" for the root; name is its agent.
	run, name string
	// quoted is the name as a JSON string; tail ends its events.
	quoted, tail []byte
	// ids begins the ids of its messages; texts and thoughts count them. base is ids
	// before the interruption of the run.
	ids, base       string
	texts, thoughts int
	// open is Text or Reasoning while such a message is open; message is its id, a
	// JSON string.
	open    event.Type
	message []byte
	// parent is the message that calls belong to. answered is true once one of them
	// has its result: the next call belongs to another message.
	parent   string
	answered bool
	// fresh are the messages of the current step, which are removed if it is cut.
	fresh []string
	// begun and ended are true if this response has sent SUBAGENT_STARTED, and its
	// end.
	begun, ended bool
}

func newVoice(run, agent, ids string) *voice {
	v := &voice{name: path.Base(agent), ids: ids, base: ids}
	v.quoted = appendQuoted(nil, v.name)
	v.rename(run)
	return v
}

// rename gives the voice another subagentRunId.
func (v *voice) rename(run string) {
	v.run, v.tail = run, nil
	if run != "" {
		v.tail = appendQuoted(append(v.tail, `,"subagentRunId":`...), run)
	}
	v.tail = append(v.tail, "}\n\n"...)
}

// next returns the id of a new message of the answer.
func (v *voice) next() string {
	v.answered = false
	v.texts++
	v.parent = v.ids
	if v.texts > 1 {
		v.parent += "-" + strconv.Itoa(v.texts)
	}
	return v.parent
}

// thought returns the id of a new message of reasoning.
func (v *voice) thought() string {
	v.thoughts++
	return v.ids + "-reasoning-" + strconv.Itoa(v.thoughts)
}

// again prepares the voice for another response.
func (v *voice) again() { v.open, v.begun, v.ended = 0, false, false }
