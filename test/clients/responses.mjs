// Talks to p8 with the clients of OpenAI's Responses API: npm openai in its styles, older
// versions of it, the AI SDK's openai() of three versions, the OpenAI Agents SDK, LangChain.
//
// stdin:  {"url"}
// stdout: {"scenario": [{"clients": [names], …what these made of it}]}: clients that
//          saw the same stand together.
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled, tool as agentTool } from '@openai/agents';
import * as ai7 from 'ai';
import * as ai5 from 'ai-5';
import * as ai6 from 'ai-6';
import { createOpenAI as openai5 } from 'ai-sdk-openai-2';
import { createOpenAI as openai6 } from 'ai-sdk-openai-3';
import OpenAI from 'openai';
import v4104 from 'openai-4.104';
import v50 from 'openai-5.0';
import v523 from 'openai-5.23';
import v6 from 'openai-6';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { played, report, url } from './report.mjs';

setTracingDisabled(true);
const area = { type: 'object', additionalProperties: false, properties: { area: { type: 'string' } }, required: ['area'] };
const showMap = { type: 'function', name: 'show_map', description: 'Shows a map.', parameters: area, strict: true };
const animal = z.object({ animal: z.string(), wet: z.boolean() });
const client = (Client = OpenAI) => new Client({ baseURL: `${url}/v1`, apiKey: 'unused', maxRetries: 0 });

// shown is the output as a reader sees it, an item a line.
const shown = (output) => output.map((item) => {
  if (item.type === 'message') return `message: ${item.content.map((c) => c.text).join('')}`;
  if (item.type === 'mcp_call') return `mcp_call ${item.name} ${item.arguments} ${item.status}`;
  if (item.type === 'function_call') return `function_call ${item.call_id} ${item.name} ${item.arguments}`;
  if (item.type === 'mcp_approval_request') return `mcp_approval_request ${item.name} ${item.arguments}`;
  return item.type;
});

// gap is the first number that does not follow the one before.
const gap = (numbers, first = 0) => numbers.find((n, i) => n !== first + i);

// A style of npm openai: one request → the response.
const styles = {
  create: (c, body) => c.responses.create(body),
  async 'create, streamed'(c, body) {
    let last;
    const numbers = [];
    for await (const event of await c.responses.create({ ...body, stream: true })) {
      numbers.push(event.sequence_number);
      last = event;
    }
    if (gap(numbers) !== undefined) throw new Error(`the numbers are ${numbers}`);
    return last.response;
  },
  async stream(c, body) {
    let text = '';
    const stream = c.responses.stream(body);
    stream.on('response.output_text.delta', (e) => { text += e.delta; });
    const final = await stream.finalResponse();
    const said = final.output.flatMap((item) => item.content ?? []).map((part) => part.text).join('');
    if (text !== said) throw new Error(`the deltas are ${JSON.stringify(text)}, the text is ${JSON.stringify(said)}`);
    return final;
  },
};

// held is a conversation with npm openai. The client runs its own tools, and continues with
// previous_response_id or sends everything again.
const held = (style, chained, Client) => async ({ agent, text, tools, approve }) => {
  const c = client(Client);
  let body = { model: agent, input: [{ role: 'user', content: text }], ...(tools && { tools: [showMap] }) };
  const turns = [];
  while (turns.length < 4) {
    const answer = await styles[style](c, body);
    turns.push({ status: answer.status, output: shown(answer.output) });
    const news = answer.output.flatMap((item) => {
      if (item.type === 'function_call') return [{ type: 'function_call_output', call_id: item.call_id, output: 'the map is shown' }];
      if (item.type === 'mcp_approval_request') return [{ type: 'mcp_approval_response', approval_request_id: item.id, approve }];
      return [];
    });
    if (news.length === 0) return turns;
    const transcript = answer.output.map(({ parsed_arguments: _, ...item }) => item);
    body = chained ? { ...body, previous_response_id: answer.id, input: news } : { ...body, input: [...body.input, ...transcript, ...news] };
  }
  throw new Error('there is no end');
};

// sdk is a conversation with the AI SDK, in as many steps as its tool takes.
const sdk = (ai, create, streamed) => async ({ agent, text, tools, approve }) => {
  const model = create({ baseURL: `${url}/v1`, apiKey: 'unused' })(agent);
  const messages = [{ role: 'user', content: text }];
  const turns = [];
  for (;;) {
    const asked = {
      model, messages, maxRetries: 0, stopWhen: ai.stepCountIs(3), onError() {},
      ...(tools && { tools: { show_map: ai.tool({ inputSchema: ai.jsonSchema(area), execute: () => 'the map is shown' }) } }),
    };
    let made;
    if (streamed) {
      const stream = ai.streamText(asked);
      for await (const part of stream.fullStream) if (part.type === 'error') throw part.error;
      made = { steps: await stream.steps, response: await stream.response };
    } else {
      made = await ai.generateText(asked);
    }
    for (const { content, finishReason } of made.steps) {
      const calls = content.filter((p) => p.type === 'tool-call').map((p) => `${p.providerExecuted ? 'server' : 'client'} ${p.toolName}`);
      turns.push({ text: content.filter((p) => p.type === 'text').map((p) => p.text).join(''), finish: finishReason, calls });
    }
    const asks = made.steps.at(-1).content.filter((p) => p.type === 'tool-approval-request');
    if (asks.length === 0) return turns;
    messages.push(...made.response.messages, {
      role: 'tool', content: asks.map((a) => ({ type: 'tool-approval-response', approvalId: a.approvalId, approved: approve, providerExecuted: true })),
    });
  }
};

const agents = (streamed) => async ({ agent, text, tools }) => {
  const runner = new Runner({ modelProvider: { getModel: async () => new OpenAIResponsesModel(client(), agent) } });
  const mapper = agentTool({ name: 'show_map', description: 'Shows a map.', parameters: z.object({ area: z.string() }), execute: () => 'the map is shown' });
  const result = await runner.run(new Agent({ name: 'Visitor', model: agent, tools: tools ? [mapper] : [] }), text, { stream: streamed });
  if (streamed) {
    for await (const _ of result) { /* its events are OpenAI's */ }
    await result.completed;
  }
  return [{ text: result.finalOutput, items: result.newItems.map((i) => i.type) }];
};

const langchain = async ({ agent, text, tools }) => {
  let model = new ChatOpenAI({ model: agent, apiKey: 'unused', maxRetries: 0, useResponsesApi: true, configuration: { baseURL: `${url}/v1` } });
  if (tools) model = model.bindTools([{ type: 'function', function: { name: 'show_map', description: 'Shows a map.', parameters: area } }]);
  const messages = [new HumanMessage(text)];
  const turns = [];
  for (;;) {
    let all;
    for await (const chunk of await model.stream(messages)) all = all ? all.concat(chunk) : chunk;
    turns.push({ text: all.text, calls: (all.tool_calls ?? []).map((c) => `${c.id} ${c.name}`) });
    if (!all.tool_calls?.length) return turns;
    messages.push(all, ...all.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: 'the map is shown' })));
  }
};

const clients = {
  'openai, create': held('create'),
  'openai, create, chained': held('create', true),
  'openai, streamed': held('create, streamed'),
  'openai, streamed, chained': held('create, streamed', true),
  'openai, stream': held('stream', true),
  'openai-4.104, create': held('create', true, v4104),
  'openai-4.104, streamed': held('create, streamed', true, v4104),
  'openai-5.0, streamed': held('create, streamed', true, v50),
  'openai-5.0, stream': held('stream', true, v50),
  'openai-5.23, stream': held('stream', true, v523),
  'openai-6, stream': held('stream', true, v6),
  'ai-5, generateText': sdk(ai5, openai5, false),
  'ai-5, streamText': sdk(ai5, openai5, true),
  'ai-6, generateText': sdk(ai6, openai6, false),
  'ai-6, streamText': sdk(ai6, openai6, true),
  'ai, generateText': sdk(ai7, createOpenAI, false),
  'ai, streamText': sdk(ai7, createOpenAI, true),
  '@openai/agents, run': agents(false),
  '@openai/agents, streamed': agents(true),
  '@langchain/openai, stream': langchain,
};

// each plays a scenario with every client; those that saw the same stand together.
const each = (question, pick = Object.keys(clients)) => async (scenario) => {
  const seen = new Map();
  for (const name of pick) {
    played(name.split(', ')[0], scenario);
    let made;
    try {
      made = { turns: await clients[name](question) };
      if (question.parallel) made.turns.forEach((turn) => Object.values(turn).filter(Array.isArray).forEach((lines) => lines.sort()));
    } catch (err) {
      made = { thrown: err.message ?? err.error.message };
    }
    const key = JSON.stringify(made);
    if (!seen.has(key)) seen.set(key, { clients: [], ...made });
    seen.get(key).clients.push(name);
  }
  return [...seen.values()];
};
const named = (...parts) => Object.keys(clients).filter((name) => parts.some((part) => name.startsWith(part)));

await report({
  'a text': each({ agent: 'desk', text: 'Good morning!' }),
  delegation: each({ agent: 'desk', text: 'How many otters are there?', parallel: true }),
  'a tool of the client': each({ agent: 'desk', text: 'Show the way.', tools: true }),
  'an approval': each({ agent: 'keeper', text: 'An otter was born.', approve: true }, named('openai, create, chained', 'openai, stream', 'ai-6', 'ai,')),
  'a denial': each({ agent: 'keeper', text: 'An otter was born.', approve: false }, named('openai, create, chained', 'ai-6, streamText', 'ai, streamText')),
  'a refusal': each({ agent: 'desk', text: 'Please refuse me.' }),
  async 'a schema of the client'() {
    played('openai', 'a schema of the client');
    const text = 'Describe the otter.';
    const parsed = await client().responses.parse({ model: 'desk', input: text, text: { format: zodTextFormat(animal, 'animal') } });
    const made = { parsed: parsed.output_parsed };
    for (const [name, ai, create] of [['ai-5', ai5, openai5], ['ai-6', ai6, openai6], ['ai', ai7, createOpenAI]]) {
      const model = create({ baseURL: `${url}/v1`, apiKey: 'unused' })('desk');
      made[name] = (await ai.generateObject({ model, prompt: text, schema: animal, maxRetries: 0 })).object;
    }
    return made;
  },
  async 'in the background'() {
    played('openai', 'in the background');
    const c = client();
    const { id, status } = await c.responses.create({ model: 'desk', input: 'Tell me a long story.', background: true });
    const first = [];
    for await (const event of await c.responses.retrieve(id, { stream: true })) {
      first.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') break;
    }
    const events = [];
    for await (const event of await c.responses.retrieve(id, { stream: true, starting_after: first.at(-1) })) events.push(event);
    const whole = await c.responses.retrieve(id);
    const items = [];
    for await (const item of c.responses.inputItems.list(id)) items.push(item.content[0].text);
    const replay = await c.responses.stream({ response_id: id }).finalResponse();
    await c.responses.delete(id);
    return {
      begins: status, gap: gap([...first, ...events.map((e) => e.sequence_number)]), ends: events.at(-1).type, items,
      text: whole.output_text, same: [events.at(-1).response.output, replay.output].every((o) => JSON.stringify(shown(o)) === JSON.stringify(shown(whole.output))),
      deleted: await c.responses.retrieve(id).catch((err) => err.status),
    };
  },
  async 'a cancelled response'() {
    played('openai', 'a cancelled response');
    const c = client();
    let id;
    let response;
    const seen = new Set();
    for await (const event of await c.responses.create({ model: 'desk', input: 'Tell me a long story.', stream: true, background: true })) {
      seen.add(event.type);
      id ??= event.response?.id;
      if (event.type === 'response.output_text.delta') response ??= c.responses.cancel(id);
    }
    return { cancelled: (await response).status, then: (await c.responses.retrieve(id)).status, queued: seen.has('response.queued') };
  },
  async 'a conversation'() {
    played('openai', 'a conversation');
    const c = client();
    const one = await c.responses.create({ model: 'desk', input: 'Good morning!', conversation: 'a morning' });
    const two = await c.responses.create({ model: 'desk', input: 'Good morning again!', previous_response_id: one.id });
    const branch = await c.responses.create({ model: 'desk', input: 'Good morning for the third time!', previous_response_id: one.id });
    const unkept = await c.responses.create({ model: 'desk', input: 'Good morning!', store: false });
    return {
      same: one.conversation.id === 'a morning' && two.conversation.id === 'a morning', branch: branch.conversation.id !== 'a morning',
      unkept: await c.responses.create({ model: 'desk', input: 'Good morning!', previous_response_id: unkept.id }).catch((err) => `${err.status} ${err.code}`),
    };
  },
});
