package agent

// Routing is how a router recognises that a message is for this agent (the document's
// routing).
type Routing struct {
	// Examples are messages that are for it; Keywords words and phrases, any of which
	// marks one.
	Examples []string `json:"examples,omitempty" doc:"Messages that are for this agent, as a user would write them."`
	Keywords []string `json:"keywords,omitempty" doc:"Words and phrases that mark a message for this agent."`
}
