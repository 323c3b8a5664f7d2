// Talks to p8 with the JavaScript SDK of the Agent2Agent protocol: version 1.0 over JSON-RPC
// and HTTP+JSON, and version 0.3.
//
// stdin:  {"url"}
// stdout: {"scenario": what the client made of it}
import { createServer } from 'node:http';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
import { abridged, report, rows, until, url } from './report.mjs';

const factory = new ClientFactory();
const client = (agent) => factory.createFromUrl(`${url}/a2a/${agent}/.well-known/agent-card.json`, '');

// over is a client of one of the card's interfaces.
async function over(agent, binding, version) {
  const card = await (await client(agent)).getAgentCard();
  const old = { transports: [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } })] };
  return new ClientFactory(version === '0.3' ? ClientFactoryOptions.createFrom(ClientFactoryOptions.default, old) : undefined)
    .createFromAgentCard({ ...card, supportedInterfaces: card.supportedInterfaces.filter((i) => i.protocolBinding === binding && i.protocolVersion === version) });
}

const message = (content, more = {}) => ({
  message: {
    messageId: crypto.randomUUID(), role: Role.ROLE_USER, contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: undefined,
    parts: [{ content: typeof content === 'string' ? { $case: 'text', value: content } : { $case: 'data', value: content }, mediaType: '', filename: '', metadata: undefined }],
    ...more,
  },
  configuration: undefined, metadata: undefined, tenant: '',
});

const words = (parts) => parts.map(({ content: c }) => (c.$case === 'text' ? c.value : `${c.$case} ${JSON.stringify(c.value)}`));
// plain leaves out of a question what differs each time.
const plain = (lines) => lines.map((line) => line.replace(/"(request_id|run_id|expires_at|id|card)":("[^"]*"|\{.*?\}\]\}),?/g, ''));
const state = (s) => TaskState[s].replace('TASK_STATE_', '').toLowerCase();

// told is a task as its client sees it.
const told = (task) => ({
  state: state(task.status.state),
  ...(task.status.message && { says: plain(words(task.status.message.parts)) }),
  artifacts: task.artifacts.map((a) => `${a.name}: ${words(a.parts).map(abridged).join(' | ')}`),
});

// gathered reads a stream: its kinds of events, its states, its text and data.
async function gathered(stream, each = () => {}) {
  const out = { kinds: [], events: new Set(), agents: new Set(), text: '', states: [] };
  for await (const { payload: { $case: kind, value } } of stream) {
    if (out.kinds.at(-1) !== kind) out.kinds.push(kind);
    if (kind === 'task') { out.task = value; out.states.push(state(value.status.state)); out.text += value.artifacts.flatMap((a) => words(a.parts)).join(''); }
    if (kind === 'artifactUpdate') {
      out.text += words(value.artifact.parts).join('');
      if (value.metadata?.agent) out.agents.add(value.metadata.agent);
    }
    if (kind === 'statusUpdate') {
      if (state(value.status.state) !== out.states.at(-1)) out.states.push(state(value.status.state));
      if (value.metadata?.event) out.events.add(value.metadata.event.type);
    }
    await each(out, kind, value);
  }
  return out;
}
const summed = ({ text, states, events, agents }) => ({ text: abridged(text), states, events: [...events].sort(), agents: [...agents].sort() });

// sent plays one message, in one piece and streamed.
const sent = (agent, text) => async () => {
  const c = await client(agent);
  const task = await c.sendMessage(message(text));
  const stream = await gathered(c.sendMessageStream(message(text)));
  const again = await c.getTask({ id: stream.task.id, tenant: '' });
  return { task: told(task), stream: summed(stream), got: told(again) };
};

// answered answers what a task asks with each of the contents.
const answered = (agent, text, ...contents) => async () => {
  const c = await client(agent);
  const tasks = [];
  let task = await c.sendMessage(message(text));
  tasks.push(told(task));
  for (const content of contents) {
    try {
      task = await c.sendMessage(message(content, { taskId: task.id, contextId: task.contextId }));
      tasks.push(told(task));
    } catch (err) {
      tasks.push({ thrown: err.message });
    }
  }
  return { tasks, rows: (await rows(task.contextId)).sort() };
};

const list = (more) => ({ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined, ...more });
const said = (task) => (task.history ?? []).map((m) => `${Role[m.role].replace('ROLE_', '').toLowerCase()}: ${plain(words(m.parts)).map(abridged).join(' | ')}`);

// webhook is a server that keeps what it is told.
async function webhook() {
  const got = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (b) => { body += b; });
    req.on('end', () => { got.push({ headers: req.headers, body: JSON.parse(body) }); res.end(); });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { got, url: `http://127.0.0.1:${server.address().port}/tasks`, close: () => server.close() };
}

// told of a task by a webhook, in either version.
const toldOf = (body) => (body.task ?? body).status.state.toLowerCase().replace('task_state_', '').replaceAll('-', '_');

// pushed plays a task that asks, whose webhook is set with the message.
const pushed = (open, read) => async () => {
  const c = await open();
  const hook = await webhook();
  try {
    const config = { tenant: '', taskId: '', id: 'mine', url: hook.url, token: 'otter', authentication: { scheme: 'Bearer', credentials: 'secret' } };
    const asked = await c.sendMessage({ ...message('An otter was born.'), configuration: { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: config } });
    await until('told that it asks', () => hook.got.some((g) => toldOf(g.body) === 'input_required'));
    const kept = await c.listTaskPushNotificationConfig({ tenant: '', taskId: asked.id, pageSize: 0, pageToken: '' });
    const done = await c.sendMessage(message({ approved: true }, { taskId: asked.id, contextId: asked.contextId }));
    await until('told that it ended', () => hook.got.some((g) => toldOf(g.body) === 'completed'));
    const { headers, body } = hook.got.at(-1);
    await c.deleteTaskPushNotificationConfig({ tenant: '', taskId: asked.id, id: 'mine' });
    const left = await c.listTaskPushNotificationConfig({ tenant: '', taskId: asked.id, pageSize: 0, pageToken: '' });
    const got = await c.getTask({ id: asked.id, tenant: '', historyLength: 10 });
    return {
      done: state(done.status.state), body: read(body), type: headers['content-type'], token: headers['x-a2a-notification-token'], key: headers.authorization,
      kept: (kept.configs ?? kept).map((k) => `${k.id} ${k.url === hook.url} ${k.token}${k.authentication?.credentials ?? ''}`),
      left: (left.configs ?? left).length, history: said(got),
    };
  } finally {
    hook.close();
  }
};

await report({
  'the card': async () => {
    const card = await (await client('desk')).getAgentCard();
    const { name, description, capabilities, supportedInterfaces: all, defaultOutputModes, skills } = card;
    return {
      name, description, streaming: capabilities.streaming, push: capabilities.pushNotifications, output: defaultOutputModes, skills: skills.map((s) => s.id),
      interfaces: all.map((i) => `${i.protocolBinding} ${i.protocolVersion} ${i.url.replace(url, '')}`),
    };
  },
  'a text': sent('desk', 'Good morning!'),
  delegation: sent('desk', 'How many otters are there?'),
  'a child in place of its parent': sent('editor', 'Write about the otters.'),
  'a structured agent': sent('ledger', 'Count the otters.'),
  'two messages of a context': async () => {
    const c = await client('desk');
    const first = await c.sendMessage(message('Read two pages.'));
    const second = await c.sendMessage(message('Good morning!', { contextId: first.contextId }));
    return { same: first.contextId === second.contextId, another: first.id !== second.id, rows: await rows(first.contextId) };
  },
  'an approval': answered('keeper', 'An otter was born.', { approved: true }),
  'an approval, denied in words': answered('keeper', 'An otter was born.', 'no'),
  'an approval of a child': answered('desk', 'Tell the keeper.', { approved: true }),
  'a question': answered('guide', 'Book a tour.', { people: 'three' }, { people: 3 }),
  'a question, streamed': async () => {
    const c = await client('guide');
    const asked = await gathered(c.sendMessageStream(message('Book a tour.')));
    const { id: taskId, contextId } = asked.task;
    // Who watches the task sees it go on when somebody else answers.
    let watching;
    const watched = gathered(c.resubscribeTask({ id: taskId, tenant: '' }), () => { watching = true; });
    await until('somebody watches', () => watching);
    const going = await gathered(c.sendMessageStream(message({ people: 3 }, { taskId, contextId })));
    return { asked: summed(asked), going: summed(going), watched: (await watched).states };
  },
  'a cancel, watched by two': async () => {
    const c = await client('desk');
    let watcher;
    let cancelled;
    const stream = await gathered(c.sendMessageStream(message('Tell me a long story.')), async (out, kind) => {
      if (kind === 'artifactUpdate' && !watcher) watcher = gathered(c.resubscribeTask({ id: out.task.id, tenant: '' }));
      if (out.text.length > 40) cancelled ??= c.cancelTask({ id: out.task.id, tenant: '', metadata: undefined });
    });
    const other = await watcher;
    const task = await cancelled;
    const [, answer] = await rows(task.contextId);
    const twice = await c.cancelTask({ id: task.id, tenant: '', metadata: undefined }).catch((err) => err.message);
    return {
      states: stream.states, other: other.states, same: stream.text === other.text, task: state(task.status.state),
      kept: answer === `assistant: ${stream.text} (cancelled)`, twice,
    };
  },
  'a client that leaves': async () => {
    const c = await client('desk');
    let id;
    for await (const { payload } of c.sendMessageStream(message('Tell me a long story.'))) {
      if (payload.$case === 'task') id = payload.value.id;
      if (payload.$case === 'artifactUpdate') break;
    }
    const back = await gathered(c.resubscribeTask({ id, tenant: '' }));
    const [, answer] = await rows(back.task.contextId);
    return { states: back.states, whole: answer === `assistant: ${back.text}` };
  },
  'the list of tasks': async () => {
    const c = await client('desk');
    const contextId = `list-${crypto.randomUUID()}`;
    const first = await c.sendMessage(message('Good morning!', { contextId }));
    const second = await c.sendMessage(message('Read two pages.', { contextId }));
    const page = await c.listTasks(list({ contextId, pageSize: 1, includeArtifacts: true, historyLength: 5 }));
    const next = await c.listTasks(list({ contextId, pageSize: 1, pageToken: page.nextPageToken }));
    const working = await c.listTasks(list({ contextId, status: TaskState.TASK_STATE_WORKING }));
    const since = await c.listTasks(list({ contextId, statusTimestampAfter: second.status.timestamp }));
    return {
      newest: page.tasks[0].id === second.id, next: next.tasks[0].id === first.id, sizes: [page.pageSize, page.totalSize, working.totalSize, since.tasks.length],
      last: next.nextPageToken, task: { ...told(page.tasks[0]), history: said(page.tasks[0]) }, brief: told(next.tasks[0]),
    };
  },
  'a webhook': pushed(() => client('keeper'), (body) => Object.keys(body)),
  'a webhook of version 0.3': pushed(() => over('keeper', 'JSONRPC', '0.3'), (body) => body.kind),
  'version 0.3': async () => {
    const c = await over('desk', 'JSONRPC', '0.3');
    const task = await c.sendMessage(message('Good morning!'));
    const stream = await gathered(c.sendMessageStream(message('How many otters are there?')));
    return { task: told(task), stream: summed(stream), got: said(await c.getTask({ id: task.id, tenant: '' })) };
  },
  'HTTP+JSON': async () => {
    const c = await over('keeper', 'HTTP+JSON', '1.0');
    const stream = await gathered(c.sendMessageStream(message('An otter was born.')));
    const { id, contextId } = stream.task;
    let seen;
    const watching = gathered(c.resubscribeTask({ id, tenant: '' }), () => { seen = true; });
    await until('somebody watches', () => seen);
    const listed = await c.listTasks(list({ contextId, pageSize: 5, status: TaskState.TASK_STATE_INPUT_REQUIRED }));
    const task = await c.cancelTask({ id, tenant: '', metadata: undefined });
    const twice = await c.cancelTask({ id, tenant: '', metadata: undefined }).catch((err) => `${err.constructor.name} ${err.message}`);
    const none = await c.getTask({ id: 'nobody', tenant: '' }).catch((err) => `${err.constructor.name} ${err.message}`);
    return { states: stream.states, listed: listed.tasks.length, task: state(task.status.state), watched: (await watching).states, twice, none };
  },
  'a refusal': sent('desk', 'Please refuse me.'),
  'a task that there is not': async () => {
    const c = await client('desk');
    return c.getTask({ id: '00000000-0000-4000-8000-000000000000', tenant: '' }).catch((err) => err.message);
  },
}, '@a2a-js/sdk');
