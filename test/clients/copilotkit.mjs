// Plays CopilotKit: its front end talks to its runtime, whose agents are p8's.
//
// stdin:  {"url"}
// stdout: {"scenario": {"messages": [what the front end shows], "rows": [the session of
//          the thread], …}}
import { createServer } from 'node:http';
import { HttpAgent } from 'ag-ui-client-0.0.59';
import { abridged, inOrder, report, rows, until, url } from './report.mjs';

// Neither the runtime nor the front end may send usage data. Without a window, the front
// end takes itself for a page that is rendered on a server, and does not connect.
Object.assign(process.env, { COPILOTKIT_TELEMETRY_DISABLED: 'true', DO_NOT_TRACK: '1' });
globalThis.window = {};
console.error = () => {};
const { CopilotKitCore } = await import('@copilotkit/core');
const { CopilotRuntime, createCopilotRuntimeHandler } = await import('@copilotkit/runtime/v2');
const { createCopilotNodeHandler } = await import('@copilotkit/runtime/v2/node');

const agents = {};
for (const [name, path, schema] of [['desk', '/chat', 'desk'], ['keeper', '/chat', 'keeper'], ['ui', '/api/chat', 'desk'], ['fixed', '/chat/copilot', 'desk']]) {
  agents[name] = new HttpAgent({ url: `${url}${path}?on_disconnect=stop`, headers: { 'x-agent-schema-name': schema } });
}
const server = createServer(createCopilotNodeHandler(createCopilotRuntimeHandler({
  runtime: new CopilotRuntime({ agents }), basePath: '/copilot',
})));
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });

const map = { type: 'object', properties: { area: { type: 'string' } }, required: ['area'] };
// page opens the front end, as a browser does.
let core;
async function page() {
  core = new CopilotKitCore({ runtimeUrl: `http://127.0.0.1:${server.address().port}/copilot` });
  await until('the runtime', () => core.runtimeConnectionStatus === 'connected');
}

// thread opens a thread of an agent, as a page does.
function thread(name, schema) {
  const agent = core.getAgent(schema).clone();
  agent.threadId = `copilotkit / ${name}`;
  return agent;
}

// say sends what the user says, if anything, and returns how the run ended.
async function say(agent, text, parameters) {
  if (text) agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
  let outcome;
  const watch = agent.subscribe({
    onRunFinishedEvent: (p) => { outcome = p.outcome; },
    onRunErrorEvent: ({ event }) => { outcome = event.message; },
  });
  await core.runAgent({ agent, ...parameters });
  watch.unsubscribe();
  return outcome;
}

const shown = (agent) => inOrder('tool ', agent.messages.filter((m) => m.role !== 'activity').map((m) => {
  const calls = (m.toolCalls ?? []).map((c) => ` calls ${c.function.name} ${c.function.arguments}`).join('');
  return `${m.name ? `${m.name}, ` : ''}${m.role}${m.toolCallId ? ` ${m.toolCallId}` : ''}: ${abridged(m.content ?? '')}${calls}`;
}));

// told plays messages of one thread.
const told = (schema, ...texts) => async (name) => {
  const agent = thread(name, schema);
  const outcomes = [];
  for (const text of texts) outcomes.push(await say(agent, text));
  return { outcomes, messages: shown(agent), rows: await rows(agent.threadId) };
};

// two plays two threads in turn: the history of neither may reach the other.
const two = (schema, sessions, ...texts) => async (name) => {
  const both = ['one', 'two'].map((which) => thread(`${name} / ${which}`, schema));
  const outcomes = [];
  for (const text of texts) for (const agent of both) outcomes.push(await say(agent, text));
  const stored = sessions ?? both.map((agent) => agent.threadId);
  return { outcomes, messages: both.map(shown), rows: [await rows(stored[0]), await rows(stored[1])] };
};

const scenarios = {
  'two threads': two('desk', null, 'Good morning!', 'Read two pages.'),
  'two threads at the address of the AI SDK': two('ui', null, 'Good morning!'),
  'two threads at the address of one session': two('fixed', ['copilot', 'copilotkit / two threads at the address of one session / two'], 'Good morning!', 'Good morning, once more!'),
  delegation: told('desk', 'Ask the warden.'),

  'a tool of the front end': async (name) => {
    const areas = [];
    core.addTool({
      name: 'show_map', description: 'Shows a map.', handler: async ({ area }) => { areas.push(area); return 'the map is shown'; },
      parameters: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema: { input: () => map } } },
    });
    const agent = thread(name, 'desk');
    const outcomes = [await say(agent, 'Show the way.')];
    core.removeTool('show_map');
    return { outcomes, areas, messages: shown(agent), rows: (await rows(agent.threadId)).sort() };
  },

  'an approval': async (name) => {
    const agent = thread(name, 'keeper');
    const outcomes = [await say(agent, 'An otter was born.')];
    const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload: { approved: true } }));
    outcomes.push(await say(agent, '', { resume }));
    return { outcomes, messages: shown(agent), rows: (await rows(agent.threadId)).sort() };
  },

  'a stop': async (name) => {
    const agent = thread(name, 'desk');
    let begun;
    const text = new Promise((resolve) => { begun = resolve; });
    agent.subscribe({ onTextMessageContentEvent: () => { begun(); } });
    const going = say(agent, 'Tell me a long story.').catch(() => {});
    await Promise.race([text, going]);
    core.stopAgent({ agent });
    await going;
    const outcome = await say(agent, 'Good morning!');
    const stored = await rows(agent.threadId);
    return {
      outcome, last: shown(agent).at(-1), stopped: stored[1].endsWith(' (cancelled)'), begins: stored[1].startsWith('assistant: Once upon'), rows: stored.slice(2),
    };
  },

  'a page that is loaded again': async (name) => {
    await say(thread(name, 'desk'), 'Good morning!');
    const agent = thread(name, 'desk');
    await core.connectAgent({ agent });
    const before = shown(agent);
    return { before, outcome: await say(agent, 'Good morning, once more!'), messages: shown(agent), rows: await rows(agent.threadId) };
  },
};
const onPages = Object.entries(scenarios).map(([name, play]) => [name, async () => { await page(); return play(name); }]);
await report(Object.fromEntries(onPages), '@copilotkit/runtime', '@copilotkit/core');
