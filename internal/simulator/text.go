package simulator

import "strings"

// thoughts are the four steps of the reasoning.
var thoughts = [...]string{
	"Somebody wants to see what a stream looks like. ",
	"I show each kind of event once, in the order of a real turn. ",
	"Two tools come first, then an answer with headings, a list and code. ",
	"At the end I say how sure I am, and ask whether it helped. ",
}

// article is the answer: Markdown with everything that a front end has to render.
func article(prompt string) string {
	const most = 100
	if runes := []rune(prompt); len(runes) > most {
		prompt = string(runes[:most]) + "…"
	}
	var b strings.Builder
	b.WriteString("# A simulated answer\n\n")
	if prompt != "" {
		b.WriteString("> You wrote: " + prompt + "\n\n")
	}
	b.WriteString(`No model wrote this. It is a **script**, so it costs nothing and says the same each time.

## What a front end gets

1. *Reasoning*, to be shown or folded away
2. *Progress*, with a step, a number of steps and a label
3. *Tool calls*, each with an id that links its stages
4. *Text*, in small pieces like these

| Event | Shown as |
|---|---|
| ` + "`text`" + ` | the answer |
| ` + "`tool_call`" + ` | a line that changes |
| ` + "`action_request`" + ` | a card |

` + "```js" + `
for await (const chunk of stream) {
  show(chunk.choices[0].delta.content ?? "");
}
` + "```" + `

Characters beyond ASCII arrive whole: naïve, Ωmega, 日本語, 👋.
`)
	return b.String()
}

// failingText is the text of the error demo, which repeats it.
const failingText = "This answer begins as any other does, goes on for a while, and is then cut off by an error in mid-sentence, which a front end has to show."

// lightText is the text of REMLight's simulator.
const lightText = `This text comes in pieces of ten characters, cut without regard to words. A
front end appends them as they come; **Markdown** may be broken in the middle.

- one
- two
- three
`

// helpText explains the grammar of the prompt.
const helpText = `# What the simulator plays

Say one or more of these words:

- text: an answer in small pieces
- tools: two tool calls with their results
- actions: observation, elicit, delegate and patch_schema
- structured: a structured answer
- children: delegations to other agents
- error: an error, which ends the run
- test all, or anything else: text, tools, actions and structured
- help: this text

Switches are words too: delay_ms=0 include_progress=false
include_tool_calls=false include_actions=false include_children=true
demo=minimal demo=error error_after_words=3 seed=demo
`
