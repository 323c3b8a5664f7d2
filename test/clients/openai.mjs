// Talks to p8 with the clients of OpenAI's chat completions: npm openai in its three
// styles and not streamed, older versions of it in the same styles, the AI SDK's
// provider for compatible servers, LangChain.
//
// stdin:  {"url"}
// stdout: {"scenario": [{"clients": [names], …what these made of it}]}: clients that
//          saw the same stand together.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import v420 from 'openai-4.20';
import v450 from 'openai-4.50';
import v477 from 'openai-4.77';
import v4104 from 'openai-4.104';
import v50 from 'openai-5.0';
import v58 from 'openai-5.8';
import v510 from 'openai-5.10';
import v523 from 'openai-5.23';
import v6 from 'openai-6';
import { played, report, rows, url } from './report.mjs';

const area = { type: 'object', properties: { area: { type: 'string' } }, required: ['area'] };
const showMap = { type: 'function', function: { name: 'show_map', description: 'Shows a map.', parameters: area } };
const schema = {
  type: 'json_schema',
  json_schema: {
    name: 'animal', strict: true,
    schema: {
      type: 'object', additionalProperties: false, required: ['animal', 'wet'],
      properties: { animal: { type: 'string' }, wet: { type: 'boolean' } },
    },
  },
};

// story gathers the typed events between the chunks: what became of each call, and
// which other events there were.
function story() {
  const calls = {};
  const others = new Set();
  return {
    add(chunk) {
      if (!chunk.type) return;
      if (chunk.type !== 'tool_call') others.add(chunk.type);
      else calls[`${chunk.tool_name} ${chunk.tool_id}`] = [...(calls[`${chunk.tool_name} ${chunk.tool_id}`] ?? []), chunk.status];
    },
    told: () => ({
      tools: Object.entries(calls).map(([name, stages]) => `${name}: ${stages.join(' ')}`).sort(),
      events: [...others].sort(),
    }),
  };
}
const openai = (session, Client) => new Client({
  baseURL: `${url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: session ? { 'X-Session-Id': session } : {},
});

// Versions that decode server-sent events each in a way of its own.
const older = {
  '4.20': v420, '4.50': v450, '4.77': v477, '4.104': v4104, '5.0': v50, '5.8': v58, '5.10': v510, '5.23': v523, 6: v6,
};

// A style of npm openai: one request → {message, finish, story?}.
const styles = {
  async 'openai, raw'(client, body) {
    const chunks = [];
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) chunks.push(chunk);
    const seen = story();
    const message = { role: 'assistant', content: '' };
    let finish = null;
    const pieces = [];
    for (const chunk of chunks) {
      seen.add(chunk);
      const { delta, finish_reason: reason } = chunk.choices[0];
      message.content += delta.content ?? '';
      for (const { index, ...call } of delta.tool_calls ?? []) {
        const known = (message.tool_calls ??= [])[index];
        if (known) known.function.arguments += call.function.arguments;
        else message.tool_calls[index] = call;
        (pieces[index] ??= []).push(call.function.arguments);
      }
      finish = reason ?? finish;
    }
    const id = new Set(chunks.map((c) => c.id));
    if (id.size !== 1) throw new Error(`the stream has the ids ${[...id]}`);
    return { message, finish, ...seen.told(), ...(pieces.length > 0 && { pieces }) };
  },
  async 'openai, loop'(client, body) {
    const seen = story();
    const message = { role: 'assistant', content: '' };
    let finish = null;
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
      const choice = chunk.choices[0];
      if (choice.delta.content) message.content += choice.delta.content;
      for (const call of choice.delta.tool_calls ?? []) {
        message.tool_calls ??= [];
        message.tool_calls[call.index] ??= { id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } };
        message.tool_calls[call.index].function.arguments += call.function.arguments ?? '';
      }
      if (choice.finish_reason) finish = choice.finish_reason;
      seen.add(chunk);
    }
    return { message, finish, ...seen.told() };
  },
  async 'openai, stream'(client, body) {
    const seen = story();
    const { completions } = client.chat.completions.stream ? client.chat : client.beta.chat;
    const stream = completions.stream({ ...body, stream_options: { include_usage: true } });
    stream.on('chunk', (chunk) => seen.add(chunk));
    const final = await stream.finalChatCompletion();
    if (!final.usage?.total_tokens && !(client instanceof v420)) throw new Error('no usage'); // 4.20 does not know the chunk
    const { message, finish_reason: finish } = final.choices[0];
    return { message, finish, ...seen.told() };
  },
  async 'openai, not streamed'(client, body) {
    const answer = await client.chat.completions.create(body);
    if (!answer.usage.total_tokens) throw new Error('no usage');
    return { message: answer.choices[0].message, finish: answer.choices[0].finish_reason };
  },
};

// held is a conversation with npm openai, in which the client runs its own tools.
const held = (style, Client = OpenAI) => async ({ agent, text, session, tools, format }) => {
  const body = { model: agent, messages: [{ role: 'user', content: text }] };
  if (tools) body.tools = tools;
  if (format) body.response_format = format;
  const turns = [];
  while (turns.length < 4) {
    const { message, ...rest } = await styles[style](openai(session, Client), body);
    const calls = (message.tool_calls ?? []).map((c) => `${c.id} ${c.function.name} ${c.function.arguments}`);
    turns.push({ text: message.content, ...rest, ...(calls.length > 0 && { calls }) });
    if (calls.length === 0) return turns;
    const results = message.tool_calls.map((c) => ({ role: 'tool', tool_call_id: c.id, content: 'the map is shown' }));
    body.messages = [...body.messages, { role: 'assistant', content: message.content, tool_calls: message.tool_calls }, ...results];
  }
  throw new Error(`the client was asked for calls ${turns.length} times`);
};

const grown = {};
for (const [version, Client] of Object.entries(older)) {
  // What differs between versions is how they read a stream.
  for (const style of ['openai, raw', 'openai, stream']) grown[style.replace('openai', `openai ${version}`)] = held(style, Client);
}

const clients = {
  ...Object.fromEntries(Object.keys(styles).map((style) => [style, held(style)])),
  ...grown,

  async 'ai/openai-compatible'({ agent, text, session, tools }) {
    const provider = createOpenAICompatible({
      name: 'p8', baseURL: `${url}/v1`, headers: session ? { 'X-Session-Id': session } : {},
    });
    const turns = [{ text: '', finish: null }];
    const { fullStream } = streamText({
      model: provider(agent), prompt: text, maxRetries: 0, stopWhen: stepCountIs(3), onError() {},
      ...(tools && { tools: { show_map: tool({ inputSchema: jsonSchema(area), execute: () => 'the map is shown' }) } }),
    });
    for await (const part of fullStream) {
      const turn = turns.at(-1);
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') turn.text += part.text;
      if (part.type === 'tool-call') (turn.calls ??= []).push(`${part.toolCallId} ${part.toolName} ${JSON.stringify(part.input)}`);
      if (part.type === 'finish-step') {
        turn.finish = part.rawFinishReason ?? part.finishReason;
        turns.push({ text: '', finish: null });
      }
    }
    return turns.slice(0, -1);
  },

  async langchain({ agent, text, session, tools, format }) {
    let model = new ChatOpenAI({
      model: agent, apiKey: 'unused', maxRetries: 0,
      configuration: { baseURL: `${url}/v1`, defaultHeaders: session ? { 'X-Session-Id': session } : {} },
    });
    if (tools) model = model.bindTools(tools);
    if (format) model = model.withConfig({ response_format: format });
    const messages = [new HumanMessage(text)];
    const turns = [];
    for (;;) {
      let all;
      for await (const chunk of await model.stream(messages)) all = all ? all.concat(chunk) : chunk;
      const turn = { text: all.content, finish: all.response_metadata.finish_reason };
      turns.push(turn);
      if (!all.tool_calls?.length) return turns;
      turn.calls = all.tool_calls.map((c) => `${c.id} ${c.name} ${JSON.stringify(c.args)}`);
      messages.push(all, ...all.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: 'the map is shown' })));
    }
  },
};

// forced is a tool that the model must call, as each client asks for it: by name, any, or
// for a structured answer.
const animal = schema.json_schema.schema;
const note = 'Note the otter.';
const forced = {
  async openai(Client = OpenAI) {
    const { choices: [{ message, finish_reason: finish }] } = await openai(undefined, Client).chat.completions.create({
      model: 'desk', messages: [{ role: 'user', content: note }],
      tools: [{ type: 'function', function: { name: 'animal', parameters: animal } }], tool_choice: { type: 'function', function: { name: 'animal' } },
    });
    return { finish, args: JSON.parse(message.tool_calls[0].function.arguments) };
  },
  ...Object.fromEntries(Object.entries(older).map(([version, Client]) => [`openai ${version}`, () => forced.openai(Client)])),
  async 'ai/openai-compatible'() {
    const result = streamText({
      model: createOpenAICompatible({ name: 'p8', baseURL: `${url}/v1` })('desk'), prompt: note, maxRetries: 0, toolChoice: 'required',
      tools: { animal: tool({ inputSchema: jsonSchema(animal) }) },
    });
    const [call] = await result.toolCalls;
    return { finish: await result.rawFinishReason ?? await result.finishReason, args: call.input };
  },
  async langchain() {
    const model = new ChatOpenAI({ model: 'desk', apiKey: 'unused', maxRetries: 0, configuration: { baseURL: `${url}/v1` } })
      .withStructuredOutput(animal, { name: 'animal', method: 'functionCalling' });
    return { finish: 'tool_calls', args: await model.invoke(note) };
  },
};

// others are the vectors, the names of models and the errors of one version of npm openai.
const others = (Client = OpenAI) => async () => {
  const client = openai(undefined, Client);
  const { data, usage } = await client.embeddings.create({ model: 'offline', input: ['otter', 'pond'] });
  const thrown = async (made) => made.then(() => 'nothing', (err) => `${err.constructor.name} ${err.status} ${err.code} ${err.param}`);
  const ask = (more) => client.chat.completions.create({ model: 'desk', messages: [{ role: 'user', content: 'x' }], ...more });
  return {
    vectors: data.map((one) => one.embedding.length), tokens: usage.total_tokens,
    models: [(await client.models.retrieve('openai:gpt-4.1')).owned_by, (await client.models.retrieve('desk')).owned_by],
    thrown: {
      'a temperature of 3': await thrown(ask({ temperature: 3 })),
      'two answers': await thrown(ask({ n: 2 })),
      'an unknown tool': await thrown(ask({ tool_choice: { type: 'function', function: { name: 'nothing' } } })),
      'an unknown model': await thrown(ask({ model: 'org/nothing' })),
      'no such model': await thrown(client.models.retrieve('org/nothing:1')),
      'another embedding model': await thrown(client.embeddings.create({ model: 'text-embedding-3-small', input: 'x' })),
      'an unknown path': await thrown(client.files.list()),
    },
  };
};

// all plays a scenario of its own functions; clients that saw the same stand together.
const all = (plays) => async (scenario) => {
  const seen = new Map();
  for (const [name, play] of Object.entries(plays)) {
    played(folder(name), scenario);
    const key = JSON.stringify(await play().catch((err) => ({ error: err.message })));
    seen.set(key, [...(seen.get(key) ?? []), name]);
  }
  return [...seen].map(([made, names]) => ({ clients: grouped(names), ...JSON.parse(made) }));
};

// each plays a scenario with every client; those that saw the same stand together.
const each = (question, pick = Object.keys(clients)) => async (scenario) => {
  const seen = new Map();
  for (const name of pick) {
    played(folder(name), scenario);
    const session = question.stateless ? undefined : `${scenario} / ${name}`;
    let made;
    try {
      made = { turns: await clients[name]({ ...question, session }) };
    } catch (err) {
      made = { thrown: err.message };
    }
    if (session && question.rows) made.rows = (await rows(session)).sort();
    const key = JSON.stringify(made);
    if (!seen.has(key)) seen.set(key, { clients: [], ...made });
    seen.get(key).clients.push(name);
  }
  return [...seen.values()].map((made) => ({ ...made, clients: grouped(made.clients) }));
};

// folder is where node_modules has a client.
function folder(name) {
  const [client, version] = name.split(',')[0].split(' ');
  return { 'ai/openai-compatible': '@ai-sdk/openai-compatible', langchain: '@langchain/openai' }[name] ?? (version ? `${client}-${version}` : client);
}

// grouped puts the versions of npm openai that were used in the same styles into one text.
function grouped(names) {
  const styles = new Map();
  for (const name of names) {
    const [client, style] = name.split(', ');
    styles.set(client, [...(styles.get(client) ?? []), ...(style ? [style] : [])]);
  }
  const versions = new Map();
  for (const [client, all] of styles) {
    const [name, version] = client.split(' ');
    const key = [name, all.join(', ')].filter(Boolean).join(': ');
    versions.set(key, [...(versions.get(key) ?? []), ...(version ? [version] : [])]);
  }
  return [...versions].map(([key, all]) => (all.length > 0 ? `${key}; also ${all.join(', ')}` : key));
}

await report({
  'a text': each({ agent: 'desk', text: 'Good morning!', rows: true }),
  'tools in parallel': each({ agent: 'desk', text: 'Read two pages.' }),
  delegation: each({ agent: 'desk', text: 'How many otters are there?', rows: true }),
  'a child in place of its parent': each({ agent: 'editor', text: 'Write about the otters.', rows: true }),
  'a grandchild': each({ agent: 'desk', text: 'Ask the warden.' }),
  'a structured agent': each({ agent: 'ledger', text: 'Count the otters.' }),
  'a schema of the client': each({ agent: 'desk', text: 'Describe the otter.', format: schema },
    Object.keys(clients).filter((name) => name !== 'ai/openai-compatible')),
  'a tool of the client, in a session': each({ agent: 'desk', text: 'Show the way.', tools: [showMap], rows: true }),
  'a tool of the client, without a session': each({ agent: 'desk', text: 'Show the way.', tools: [showMap], stateless: true }),
  'an approval': each({ agent: 'keeper', text: 'An otter was born.' }),
  'a forced tool': all(forced),
  'embeddings, models and errors': all({
    openai: others(), ...Object.fromEntries(Object.entries(older).map(([version, Client]) => [`openai ${version}`, others(Client)])),
  }),
  'a refusal': each({ agent: 'desk', text: 'Please refuse me.' }),
  'a break': each({ agent: 'desk', text: 'Please break off.', rows: true }),
});
