// Talks to p8 with the JavaScript SDK of the Agent2Agent protocol, version 1.0.
//
// stdin:  {"url"}
// stdout: {"scenario": what the client made of it}
import { ClientFactory } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
import { abridged, report, rows, until, url } from './report.mjs';

const factory = new ClientFactory();
const client = (agent) => factory.createFromUrl(`${url}/a2a/${agent}/.well-known/agent-card.json`, '');

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

await report({
  'the card': async () => {
    const card = await (await client('desk')).getAgentCard();
    const { name, description, capabilities, supportedInterfaces: all, defaultOutputModes, skills } = card;
    return {
      name, description, streaming: capabilities.streaming, output: defaultOutputModes, skills: skills.map((s) => s.id),
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
  'a refusal': sent('desk', 'Please refuse me.'),
  'a task that there is not': async () => {
    const c = await client('desk');
    return c.getTask({ id: '00000000-0000-4000-8000-000000000000', tenant: '' }).catch((err) => err.message);
  },
}, '@a2a-js/sdk');
