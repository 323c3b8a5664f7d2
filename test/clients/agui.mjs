// Talks to p8 with the client of AG-UI, as a front end does.
//
// stdin:  {"url", "client"}; client is the npm package, @ag-ui/client or an older one
// stdout: {"scenario": {"runs": [what each run said], "messages": [what the client
//          shows], …}}
import { abridged, get, inOrder, input, planOf, post, report, rows, url } from './report.mjs';

const { HttpAgent } = await import(input.client);

const chat = (name, schema) => new HttpAgent({
  url: `${url}/chat/${encodeURIComponent(`${input.client} / ${name}`)}`,
  threadId: `${input.client} / ${name}`,
  headers: { 'x-agent-schema-name': schema },
});

// run sends what the user says, if anything, and tells how the run went.
async function run(agent, text, parameters) {
  const seen = { custom: new Set(), subagents: [], pieces: {} };
  if (text) agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
  await agent.runAgent(parameters, {
    onRunFinishedEvent: (p) => { seen.outcome = p.outcome; seen.pending = p.pendingToolCallIds; },
    onRunErrorEvent: ({ event }) => { seen.error = event.message; },
    onToolCallArgsEvent: ({ event }) => { (seen.pieces[event.toolCallId] ??= []).push(event.delta); },
    onCustomEvent: ({ event }) => { seen.custom.add(event.name); },
    onSubagentStartedEvent: ({ event }) => { seen.subagents.push(event.name ?? event.agentName ?? event.subagentName); },
    ...parameters?.subscriber,
  });
  const told = { outcome: seen.outcome, error: seen.error, custom: [...seen.custom].sort() };
  if (seen.subagents.length) told.subagents = seen.subagents.sort();
  const pieces = Object.entries(seen.pieces).filter(([, all]) => all.length > 1);
  if (pieces.length) told.pieces = Object.fromEntries(pieces.sort());
  if (seen.pending?.length) told.pending = seen.pending;
  if (agent.pendingInterrupts.length) {
    told.interrupts = agent.pendingInterrupts.map(({ reason, message, toolCallId, responseSchema }) => ({ reason, message, toolCallId, responseSchema }));
  }
  return told;
}

// shown are the messages of the agent and of those it asked, each agent's in order.
function shown(agent) {
  const names = new Map();
  const lines = (pick) => inOrder('tool ', agent.messages.filter(pick).map((m) => {
    const text = typeof m.content === 'string' ? m.content : JSON.stringify(m.content ?? '');
    const calls = (m.toolCalls ?? []).map((c) => ` calls ${c.function.name} ${c.id} ${c.function.arguments}`).join('');
    return `${m.role}${m.toolCallId ? ` ${m.toolCallId}` : ''}: ${abridged(text)}${calls}`;
  }));
  for (const m of agent.messages) if (m.subagentRunId) names.set(m.subagentRunId, null);
  const children = [...names.keys()].map((id) => lines((m) => m.subagentRunId === id)).sort((a, b) => (a.join() < b.join() ? -1 : 1));
  const activities = agent.messages.filter((m) => m.role === 'activity').map((m) => `${m.activityType}: ${JSON.stringify(m.content)}`).sort();
  return {
    messages: lines((m) => m.role !== 'activity' && !m.subagentRunId),
    ...(children.length && { children }), ...(activities.length && { activities }),
  };
}

// completed is the beginning of {"name": ["text"…]} as far as it goes. The client's own
// partialToolCallArgs are {} under Node.
function completed(text) {
  for (const end of ['', '"]}', ']}', '}']) {
    try {
      return JSON.parse(text + end);
    } catch { /* it does not end so */ }
  }
  return {};
}

// unanswered are the calls without a result, by which older clients know those of their
// own tools.
function unanswered(agent) {
  const results = new Set(agent.messages.map((m) => m.toolCallId));
  return agent.messages.flatMap((m) => m.toolCalls ?? []).map((c) => c.id).filter((id) => !results.has(id));
}

// told plays one message.
const told = (schema, text, parameters) => async (name) => {
  const agent = chat(name, schema);
  const runs = [await run(agent, text, parameters)];
  return { runs, ...shown(agent) };
};

// answered answers what the run asks, each with the given answers.
const answered = (schema, text, ...answers) => async (name) => {
  const agent = chat(name, schema);
  const runs = [await run(agent, text)];
  for (const answer of answers) {
    const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, ...answer }));
    runs.push(await run(agent, '', { resume }));
  }
  return { runs, ...shown(agent), rows: (await rows(agent.threadId)).sort() };
};

// byClient plays a message whose answer calls a tool of the client.
const byClient = (text, tool, result, subscriber) => async (name) => {
  const agent = chat(name, 'desk');
  const first = await run(agent, text, { tools: [tool], subscriber });
  for (const id of first.pending ?? unanswered(agent)) agent.addMessage({ id: `result-${id}`, role: 'tool', toolCallId: id, content: result });
  return { runs: [first, await run(agent, '', { tools: [tool] })], ...shown(agent), rows: (await rows(agent.threadId)).sort() };
};

// toolOf is a tool of the client.
const toolOf = (name, properties) => ({
  name, description: `The page's ${name}.`, parameters: { type: 'object', properties, required: Object.keys(properties) },
});

// statePage is a page that shows the state that it shares with the agent, also the parts
// that the model is still writing.
function statePage() {
  const [predict, shown] = [[], []];
  const subscriber = {
    onCustomEvent: ({ event }) => { if (event.name === 'PredictState') predict.splice(0, predict.length, ...event.value); },
    onToolCallArgsEvent: ({ event, toolCallBuffer, toolCallName }) => {
      const args = completed(toolCallBuffer + event.delta);
      const known = predict.find((p) => p.tool === toolCallName && args[p.tool_argument] !== undefined);
      if (known) shown.push({ [known.state_key]: args[known.tool_argument] });
    },
    onStateSnapshotEvent: ({ event }) => { shown.push({ snapshot: event.snapshot }); },
    onStateDeltaEvent: ({ event }) => { shown.push({ delta: event.delta }); },
  };
  return { predict, shown, subscriber };
}

const approved = { status: 'resolved', payload: { approved: true } };

// The client says on stderr what it throws as well.
console.error = () => {};

// The features of AG-UI's demonstrations, the dojo, have the names that it gives them.
await report({
  'agentic chat: a text': told('desk', 'Good morning!'),
  'agentic chat: a tool of the client': byClient('Show the way.', toolOf('show_map', { area: { type: 'string' } }), 'the map is shown'),
  'backend tool rendering: tools in parallel': told('desk', 'Read two pages.'),
  'subagents: several at once': told('desk', 'How many otters are there?'),
  'subagents: one in place of its parent': told('editor', 'Write about the otters.'),
  'subagents: one that asks another': told('desk', 'Ask the warden.'),
  'a structured agent': told('ledger', 'Count the otters.'),

  'human in the loop: an approval': answered('keeper', 'An otter was born.', approved),
  'human in the loop: an approval, denied': answered('keeper', 'An otter was born.', { status: 'resolved', payload: { approved: false, comment: 'not yet' } }),
  'human in the loop: an approval, cancelled': answered('keeper', 'An otter was born.', { status: 'cancelled' }),
  'human in the loop: an approval of a child': answered('desk', 'Tell the keeper.', approved),
  'human in the loop: a question': answered('guide', 'Book a tour.', { status: 'resolved', payload: { people: 3 } }),
  'human in the loop: a question, answered wrongly first': async (name) => {
    const agent = chat(name, 'guide');
    const runs = [await run(agent, 'Book a tour.')];
    const [{ id }] = agent.pendingInterrupts;
    for (const payload of [{ people: 'three' }, { people: 3 }]) {
      try {
        runs.push(await run(agent, '', { resume: [{ interruptId: id, status: 'resolved', payload }] }));
      } catch (err) {
        runs.push({ thrown: err.message });
      }
    }
    return { runs, ...shown(agent) };
  },
  'human in the loop: steps that the user selects': byClient(
    'Plan my visit.',
    toolOf('generate_task_steps', { steps: { type: 'array', items: { type: 'object' } } }),
    JSON.stringify({ accepted: true, steps: [{ description: 'See the otters', status: 'enabled' }] }),
  ),

  'agentic generative UI': async (name) => {
    const agent = chat(name, 'planner');
    const plans = [];
    const subscriber = { onStateChanged: ({ state }) => { plans.push(planOf(state)); } };
    return { runs: [await run(agent, 'Make the pond ready.', { subscriber })], plans, ...shown(agent), rows: await rows(agent.threadId) };
  },
  'tool-based generative UI': async (name) => {
    const cards = [];
    const subscriber = {
      onToolCallArgsEvent: ({ event, toolCallBuffer }) => {
        const { lines } = completed(toolCallBuffer + event.delta);
        if (lines) cards.push(lines.join(' / '));
      },
    };
    const tool = toolOf('generate_haiku', { lines: { type: 'array', items: { type: 'string' } } });
    return { cards, ...await byClient('Write a haiku.', tool, 'the haiku is shown', subscriber)(name) };
  },

  // The page and the agent edit one recipe.
  'shared state': async (name) => {
    const agent = chat(name, 'cook');
    agent.state = { title: 'Tea' };
    const runs = [await run(agent, 'How do I make tea?')];
    const first = structuredClone(agent.state);
    agent.state = { ...agent.state, title: 'Sweet tea' };
    runs.push(await run(agent, 'And sweeter?'));
    const second = structuredClone(agent.state);
    const { state: stored } = await get(`/sessions/${encodeURIComponent(agent.threadId)}`);
    agent.state = { title: 7 };
    const wrong = await run(agent, 'And sweeter?').catch((err) => err.message);
    return { runs, first, second, stored, wrong };
  },

  // The page shows the steps while the agent writes them, and takes them back if they are
  // refused.
  'predictive state updates': async (name) => {
    const agent = chat(name, 'cook');
    const { subscriber, ...page } = statePage();
    const runs = [];
    for (const text of ['How do I make tea?', 'And sweeter?']) runs.push(await run(agent, text, { subscriber }));
    return { runs, ...page, state: agent.state };
  },

  'a transcript that is sent again': async (name) => {
    const agent = chat(name, 'desk');
    const runs = [await run(agent, 'Read two pages.'), await run(agent, 'Good morning!'), await run(agent, 'Good morning, once more!')];
    return { runs, ...shown(agent), rows: await rows(agent.threadId) };
  },

  'a stop': async (name) => {
    const agent = chat(name, 'desk');
    let stopped;
    const going = run(agent, 'Tell me a long story.', {
      subscriber: {
        onTextMessageContentEvent: () => { stopped ??= post(`/chat/${encodeURIComponent(agent.threadId)}/stop`); },
      },
    });
    const told = await going;
    const { status, body } = await stopped;
    const [, answer] = await rows(agent.threadId);
    return {
      runs: [told], stop: [status, body.status],
      begins: agent.messages.at(-1).content.startsWith('Once upon'),
      kept: answer === `assistant: ${agent.messages.at(-1).content} (cancelled)`,
    };
  },

  'a client that leaves and comes back': async (name) => {
    const agent = chat(name, 'desk');
    await run(agent, 'Tell me a long story.', { subscriber: { onTextMessageContentEvent: () => { agent.abortRun(); } } }).catch(() => {});
    const left = agent.messages.at(-1).content?.length;
    const back = new HttpAgent({
      url: `${url}/chat/${encodeURIComponent(agent.threadId)}/stream`, threadId: agent.threadId, fetch: (address, init) => fetch(address, { signal: init.signal }),
    });
    const runs = [await run(back)];
    const [, answer] = await rows(agent.threadId);
    return {
      runs, leftEarly: left < 50, whole: answer === `assistant: ${back.messages.at(-1).content}`,
      nothing: await get(`/chat/${encodeURIComponent(agent.threadId)}/stream`),
    };
  },

  'a thread that is opened again': async (name) => {
    await run(chat(name, 'desk'), 'Read two pages.');
    const agent = chat(name, 'desk');
    const opened = await run(agent);
    const before = shown(agent).messages;
    return { runs: [opened, await run(agent, 'Good morning!')], before, ...shown(agent), rows: await rows(agent.threadId) };
  },

  'a second message while it answers': async (name) => {
    const agent = chat(name, 'desk');
    const other = chat(name, 'desk');
    let second;
    const first = await run(agent, 'Tell me a long story.', {
      subscriber: {
        onTextMessageContentEvent: () => {
          second ??= run(other, 'Good morning!').then(() => 'taken', (err) => err.message)
            .finally(() => post(`/chat/${encodeURIComponent(agent.threadId)}/stop`));
        },
      },
    });
    return { runs: [first], second: await second };
  },

  'a refusal': told('desk', 'Please refuse me.'),
  'a break': told('desk', 'Please break off.'),
  'an agent that there is not': async (name) => {
    const agent = chat(name, 'dsek');
    return run(agent, 'Good morning!').catch((err) => ({ thrown: err.message }));
  },
}, input.client);
