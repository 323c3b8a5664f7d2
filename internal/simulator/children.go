package simulator

import "github.com/p8-org/p8/event"

// children plays two delegations: to an agent that reasons, calls a tool, delegates
// itself and answers in text, and to one with a structured answer.
func (p *player) children() {
	p.ask("researcher", "Which events does a stream have?", func(child *player) any {
		if !p.o.NoReasoning {
			child.reasoning("The documentation of the events will say. ")
		}
		if !p.o.NoToolCalls {
			child.call("search", object{"query": "LOOKUP events"}, object{"status": "success", "results": []object{{"key": "events"}}})
		}
		child.ask("fact-checker", "Is done always the last event?", func(grandchild *player) any {
			return grandchild.answer("Yes: done is the last event of a run. ")
		})
		return child.answer("A stream has text, reasoning, tool calls, and ends with done. ")
	})
	p.ask("classifier", "Classify: events of a stream", func(child *player) any {
		return object{"label": "documentation", "confidence": 0.9}
	})
}

// answer emits a text and returns it.
func (p *player) answer(text string) string {
	p.pieces(text, 16)
	return text
}

// ask plays one delegation. play returns the child's answer: a text, or the object of
// a structured agent.
func (p *player) ask(agent, input string, play func(*player) any) {
	arguments := object{"agent_name": agent, "input_text": input}
	call := p.begin("ask_agent", arguments)
	child := &player{stage: p.stage, agent: p.agent + "/" + agent, run: p.newID()}
	child.emitData(&event.ChildRunData{Status: event.ChildStarted, ToolCallID: call, ParentRunID: p.run, Input: input})
	output := play(child)
	text, plain := output.(string)
	result := object{"status": "success", "output": output, "text_response": text, "agent_schema": agent, "is_structured_output": !plain}
	done := &event.DoneData{Reason: event.ReasonStop}
	if !plain {
		done.Output = raw(output)
		result["text_response"] = content(output)
		child.emitData(&event.ToolCallData{
			Name: agent, ID: agent + "_structured_output", Status: event.ToolCompleted, Structured: true,
			Arguments: raw(object{"input_text": input}), Result: raw(output), Content: content(output),
		})
		child.wait(1)
	}
	child.emitData(done)
	child.emitData(&event.ChildRunData{Status: event.ChildCompleted, ToolCallID: call, ParentRunID: p.run})
	p.complete("ask_agent", call, arguments, result)
}
