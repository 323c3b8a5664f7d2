// Talks to p8 with the Chat class of @ai-sdk/react, as a page does.
//
// stdin:  {"url"}
// stdout: {"scenario": {"status", "messages": [the parts that the page shows], …}}
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { abridged, get, post, report, rows, until, url } from './report.mjs';

const api = `${url}/api/chat`;

// open is a page: its chat, and what it heard besides.
function open(name, schema, { body, fetch: through, run, ...more } = {}) {
  const heard = { requests: 0, errors: [], data: new Set(), preliminary: {}, inputs: {} };
  const page = new Chat({
    id: `ai-sdk / ${name}`,
    transport: new DefaultChatTransport({
      api, body,
      ...(run && { prepareReconnectToStreamRequest: () => ({ api: `${url}/runs/${run}/events?protocol=ai-sdk` }) }),
      headers: { 'x-agent-schema-name': schema },
      fetch: (address, init) => { heard.requests++; return (through ?? fetch)(address, init); },
    }),
    onError: (err) => heard.errors.push(err.message),
    onData: (part) => heard.data.add(part.type),
    ...more,
  });
  // Preliminary outputs and inputs are replaced as they come: note what was seen of them.
  page['~registerMessagesCallback'](() => {
    for (const part of page.lastMessage?.parts ?? []) {
      if (part.state === 'input-streaming' && part.input) (heard.inputs[part.toolCallId] ??= new Set()).add(JSON.stringify(part.input));
      if (part.preliminary && part.output?.text) (heard.preliminary[part.toolCallId] ??= new Set()).add(part.output.text);
    }
  });
  return { page, heard };
}

// part is what a page shows of a part; data parts are told apart only by their name.
function part(p) {
  if (p.type === 'text') return `text: ${abridged(p.text)}`;
  if (!p.toolCallId) return p.type;
  const name = p.type === 'dynamic-tool' ? p.toolName : `${p.type} (the page's)`;
  const { output } = p;
  const made = p.errorText ?? (output === undefined ? '' : JSON.stringify(output));
  return `${name} ${p.toolCallId}: ${p.state}${p.preliminary ? ', preliminary' : ''} ${abridged(made)}`.trim();
}

const steps = new Set(['step-start', 'data-progress', 'data-usage', 'data-metadata']);

// told is what the page shows in the end. What several agents said at once is
// sorted.
function told({ page, heard }, sorted) {
  const messages = page.messages.map((m) => {
    const parts = m.parts.filter((p) => !steps.has(p.type)).map(part);
    return { role: m.role, parts: sorted ? parts.sort() : parts };
  });
  const out = { status: page.status, requests: heard.requests, messages };
  if (heard.errors.length) out.errors = heard.errors;
  out.data = [...heard.data].sort();
  const grew = Object.entries(heard.preliminary).map(([id, texts]) => `${id}: ${texts.size > 1 ? 'grew to ' : ''}${[...texts].at(-1)}`);
  const written = Object.entries(heard.inputs).filter(([, inputs]) => inputs.size > 1).map(([id, inputs]) => [id, [...inputs]]);
  if (written.length) out.inputs = Object.fromEntries(written.sort());
  if (grew.length) out.preliminary = grew.sort();
  return out;
}

// sent plays one message.
const sent = (schema, text, sorted) => async (name) => {
  const chat = open(name, schema);
  await chat.page.sendMessage({ text });
  return told(chat, sorted);
};

const settled = ({ page }) => until('the chat is ready', () => page.status === 'ready' || page.status === 'error');

// asked answers every approval that a turn asks for.
const asked = (schema, text, answer, sorted) => async (name) => {
  const chat = open(name, schema, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  await chat.page.sendMessage({ text });
  const before = told(chat, sorted);
  const requests = chat.page.lastMessage.parts.filter((p) => p.state === 'approval-requested');
  for (const p of requests) await chat.page.addToolApprovalResponse({ id: p.approval.id, ...answer });
  await until('the answer is sent', () => chat.heard.requests === 2);
  await settled(chat);
  return { before, after: told(chat, sorted), rows: (await rows(chat.page.id)).sort() };
};

const spoken = (page) => page.lastMessage.parts.filter((p) => p.type === 'text').map((p) => p.text).join('');

await report({
  'a text': sent('desk', 'Good morning!'),
  'tools in parallel': sent('desk', 'Read two pages.'),
  delegation: sent('desk', 'How many otters are there?', true),
  'a child in place of its parent': sent('editor', 'Write about the otters.'),
  'a grandchild': sent('desk', 'Ask the warden.'),
  'a structured agent': sent('ledger', 'Count the otters.'),

  'an approval': asked('keeper', 'An otter was born.', { approved: true }),
  'an approval, denied': asked('keeper', 'An otter was born.', { approved: false, reason: 'not yet' }),
  'an approval of a child': asked('desk', 'Tell the keeper.', { approved: true }),

  'a question': async (name) => {
    const chat = open(name, 'guide');
    await chat.page.sendMessage({ text: 'Book a tour.' });
    const before = told(chat);
    const { data } = chat.page.lastMessage.parts.find((p) => p.type === 'data-request');
    const answer = await post(`/approvals/${data.request_id}`, { action: 'accept', content: { people: 3 } });
    // Another page reads what became of the run, which may have ended by now.
    const back = open(name, 'guide', { run: chat.page.lastMessage.metadata.run_id });
    await back.page.resumeStream();
    return { before, answer: answer.status, after: told(back), rows: (await rows(chat.page.id)).sort() };
  },

  'a tool of the page': async (name) => {
    const chat = open(name, 'desk', {
      body: { tools: [{ name: 'show_map', description: 'Shows a map.', parameters: { type: 'object', properties: { area: { type: 'string' } } } }] },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        if (toolCall.dynamic) return;
        chat.page.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: 'the map is shown' });
      },
    });
    await chat.page.sendMessage({ text: 'Show the way.' });
    await until('the result is sent', () => chat.heard.requests === 2);
    await settled(chat);
    return { ...told(chat, true), rows: (await rows(chat.page.id)).sort() };
  },

  'an answer made again': async (name) => {
    const chat = open(name, 'desk');
    await chat.page.sendMessage({ text: 'Good morning!' });
    await chat.page.sendMessage({ text: 'Read two pages.' });
    const [, , , { id }] = chat.page.messages;
    await chat.page.regenerate();
    return { ...told(chat), another: chat.page.messages[3].id !== id, rows: await rows(chat.page.id) };
  },

  'a transcript that is sent again': async (name) => {
    const chat = open(name, 'desk');
    for (const text of ['Read two pages.', 'Good morning!', 'Good morning, once more!']) await chat.page.sendMessage({ text });
    return { ...told(chat), rows: await rows(chat.page.id) };
  },

  'a stop': async (name) => {
    const chat = open(name, 'desk');
    const going = chat.page.sendMessage({ text: 'Tell me a long story.' });
    await until('the story begins', () => chat.page.lastMessage?.role === 'assistant' && spoken(chat.page).length > 20);
    const { status, body } = await post(`/api/chat/${encodeURIComponent(chat.page.id)}/stop`);
    await going;
    const [, answer] = await rows(chat.page.id);
    return {
      page: chat.page.status, errors: chat.heard.errors, stop: [status, body.status],
      kept: answer === `assistant: ${spoken(chat.page)} (cancelled)`,
    };
  },

  'a connection that is lost': async (name) => {
    let cut;
    const chat = open(name, 'desk', {
      fetch: async (address, init) => {
        if (init.method === 'GET') return fetch(address, init);
        const lost = new AbortController();
        cut = () => lost.abort(new TypeError('network error'));
        return fetch(address, { ...init, signal: lost.signal });
      },
    });
    const going = chat.page.sendMessage({ text: 'Tell me a long story.' });
    await until('the story begins', () => chat.page.lastMessage?.role === 'assistant' && spoken(chat.page).length > 20);
    cut();
    await going;
    const had = spoken(chat.page).length;
    const lost = { status: chat.page.status, errors: [...chat.heard.errors] };
    // The page comes back, and another one is opened on the same chat.
    const other = open(name, 'desk');
    await Promise.all([chat.page.resumeStream(), other.page.resumeStream()]);
    const [, answer] = await rows(chat.page.id);
    return {
      lost, early: had < 100, back: chat.page.status, one: chat.page.messages.map((m) => m.role),
      whole: [chat, other].map((c) => answer === `assistant: ${spoken(c.page)}`),
      nothing: await get(`/api/chat/${encodeURIComponent(chat.page.id)}/stream`),
    };
  },

  'a page that comes back when nothing runs': async (name) => {
    const chat = open(name, 'desk');
    await chat.page.resumeStream();
    return told(chat);
  },

  'a refusal': sent('desk', 'Please refuse me.'),
  'a break': sent('desk', 'Please break off.'),
  'an agent that there is not': sent('dsek', 'Good morning!'),
}, 'ai');
