package chat

import (
	"bytes"
	"encoding/json"

	"p8/agent"
)

// routing says who answers a session that was handed over; it is kept in the
// session's metadata (p8). The zero value is a session that was not.
type routing struct {
	// Active answers in place of Fallback, the agent that handed over.
	Active   string `json:"active_agent"`
	State    string `json:"state"`
	Turns    int    `json:"turn_count"`
	MaxTurns int    `json:"max_turns"`
	Fallback string `json:"fallback"`
}

// routingKey is where metadata have it.
const routingKey = "routing"

// routingExecuting is the state of a session that was handed over.
const routingExecuting = "executing"

// defaultMaxTurns is how long a session stays with the agent that took over.
const defaultMaxTurns = 20

// readRouting is what a session's metadata say; what cannot be read says nothing.
func readRouting(metadata json.RawMessage) routing {
	if !bytes.Contains(metadata, []byte(routingKey)) {
		return routing{}
	}
	var m struct {
		Routing routing `json:"routing"`
	}
	if json.Unmarshal(metadata, &m) != nil || m.Routing.State != routingExecuting ||
		m.Routing.Active == "" || m.Routing.Fallback == "" {
		return routing{}
	}
	if m.Routing.MaxTurns <= 0 {
		m.Routing.MaxTurns = defaultMaxTurns
	}
	return m.Routing
}

// splitRouting parts a session's metadata for the prompt: what was said about the
// session, and who answers in it; each "" when there is nothing.
func splitRouting(metadata json.RawMessage) (said, routing string) {
	if said = string(metadata); said == "{}" || said == "null" {
		return "", ""
	}
	if !bytes.Contains(metadata, []byte(routingKey)) {
		return said, ""
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return said, ""
	}
	if routing = string(all[routingKey]); routing == "null" {
		routing = ""
	}
	delete(all, routingKey)
	if len(all) == 0 {
		return "", routing
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return "", routing // it was read a moment ago
	}
	return string(rest), routing
}

// answering is who answers when this agent is asked for: the active one in place
// of the one that handed over, until its turns are used up; else itself.
func (r routing) answering(requested string) string {
	if r.Active != "" && r.Turns < r.MaxTurns && sameAgent(requested, r.Fallback) {
		return r.Active
	}
	return requested
}

// handOver is the routing after one agent gave the session to another. The one
// that clients ask for stays the fallback; given back to it, nothing is left.
func (r routing) handOver(from string, to *agent.Agent) routing {
	fallback := from
	if sameAgent(from, r.Active) {
		fallback = r.Fallback
	}
	if sameAgent(to.Name, fallback) {
		return routing{}
	}
	most := to.Document.RoutingMaxTurns
	if most <= 0 {
		most = defaultMaxTurns
	}
	return routing{Active: to.Name, State: routingExecuting, MaxTurns: most, Fallback: fallback}
}

// afterTurn is the routing when a turn is over, of which answered said the last
// word: a turn of the active agent counts, and is the end of the routing for which
// the turns are used up.
func (r routing) afterTurn(answered string) routing {
	switch {
	case r.Active == "":
		return routing{}
	case sameAgent(answered, r.Active):
		r.Turns++
	case r.Turns >= r.MaxTurns && sameAgent(answered, r.Fallback):
		return routing{}
	}
	return r
}

// patch is the routing as metadata to merge into a session's; null takes it out.
func (r routing) patch() json.RawMessage {
	if r.Active == "" {
		return json.RawMessage(`{"` + routingKey + `":null}`)
	}
	raw, err := json.Marshal(map[string]routing{routingKey: r})
	if err != nil {
		return nil // strings and numbers can be written
	}
	return raw
}

// sameAgent compares names as the catalog does.
func sameAgent(a, b string) bool {
	return a == b || a != "" && agent.Kebab(a) == agent.Kebab(b)
}
