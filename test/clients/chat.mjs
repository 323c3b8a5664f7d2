// Holds a session with p8 the way the npm openai client is used in the wild.
//
// stdin:  {"url", "mode": "raw" | "stream" | "plain", "model", "session",
//          "turns": [{"text", "headers"?}], "resend"?: bool}
// stdout: {"turns": [{"text", "finish", "roles", "events": ["tool_call", …], "usage"}]}
//
// raw is the usual loop over the chunks, stream the client's own accumulator,
// plain an answer in one piece. With resend the client sends the whole
// conversation again on every turn, as most of them do.
import OpenAI from 'openai';
import { text as readAll } from 'node:stream/consumers';

const input = JSON.parse(await readAll(process.stdin));
const client = new OpenAI({
  baseURL: `${input.url}/v1`,
  apiKey: 'unused',
  maxRetries: 0,
  defaultHeaders: { 'X-Session-Id': input.session },
});

const modes = {
  async raw(body, options) {
    const turn = { text: '', finish: null, roles: [], events: [], usage: null };
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }, options)) {
      // Not choices[0]?.delta: most loops are written like this one.
      const choice = chunk.choices[0];
      if (chunk.type) turn.events.push(chunk.type);
      if (choice.delta.role) turn.roles.push(choice.delta.role);
      if (choice.delta.tool_calls) throw new Error('the server asks the client to run its tools');
      turn.text += choice.delta.content ?? '';
      turn.finish = choice.finish_reason ?? turn.finish;
    }
    return turn;
  },

  async stream(body, options) {
    const turn = { text: '', finish: null, roles: [], events: [], usage: null };
    const stream = client.chat.completions.stream(
      { ...body, stream_options: { include_usage: true } }, options);
    let deltas = '';
    stream.on('content', (delta) => { deltas += delta; });
    stream.on('chunk', (chunk) => { if (chunk.type) turn.events.push(chunk.type); });
    const final = await stream.finalChatCompletion();
    if (deltas !== final.choices[0].message.content) throw new Error('the deltas are not the final content');
    turn.text = deltas;
    turn.roles.push(final.choices[0].message.role);
    turn.finish = final.choices[0].finish_reason;
    turn.usage = final.usage;
    return turn;
  },

  async plain(body, options) {
    const answer = await client.chat.completions.create(body, options);
    const { message, finish_reason: finish } = answer.choices[0];
    if (answer.object !== 'chat.completion') throw new Error(`object is ${answer.object}`);
    return { text: message.content, finish, roles: [message.role], events: [], usage: answer.usage };
  },
};

const turns = [];
const said = [];
for (const { text, headers } of input.turns) {
  const question = { role: 'user', content: text };
  const messages = input.resend ? [...said, question] : [question];
  const turn = await modes[input.mode]({ model: input.model, messages }, { headers });
  said.push(question, { role: 'assistant', content: turn.text });
  turns.push(turn);
}
console.log(JSON.stringify({ turns }));
