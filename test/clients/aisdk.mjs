// Talks to p8 with the Chat class of @ai-sdk/react, as a page does, and with those of the
// older versions of ai side by side. Version 5 says its version, the others do not.
//
// stdin:  {"url"}
// stdout: {"scenario": {"status", "messages": [the parts that the page shows], …}}; "same"
//         are the older versions that made the same of it, "ai 5" what that one made of it
import { Chat } from '@ai-sdk/react';
import * as ai7 from 'ai';
import * as ai5 from 'ai-5';
import * as ai6 from 'ai-6';
import { abridged, get, planOf, played, post, report, rows, until, url } from './report.mjs';

const { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } = ai7;
const api = `${url}/api/chat`;

// State is what AbstractChat keeps a page's messages in.
class State {
  status = 'ready';
  messages = [];
  changed = () => {};
  pushMessage(message) { this.messages = [...this.messages, message]; this.changed(); }
  popMessage() { this.messages = this.messages.slice(0, -1); }
  replaceMessage(at, message) { this.messages = this.messages.with(at, this.snapshot(message)); this.changed(); }
  snapshot(value) { return structuredClone(value); }
}
const chatOf = ({ AbstractChat }) => class extends AbstractChat {
  constructor(init) { super({ ...init, state: new State() }); }
  '~registerMessagesCallback'(heard) { this.state.changed = heard; }
};
const sdks = {
  7: { Chat, transport: ai7.DefaultChatTransport },
  6: { Chat: chatOf(ai6), transport: ai6.DefaultChatTransport },
  5: { Chat: chatOf(ai5), transport: ai5.DefaultChatTransport, headers: { 'x-protocol': 'ai-sdk-5' } },
};

// open is a page: its chat, and what it heard besides.
function open(name, schema, { sdk = 7, body, fetch: through, run, headers, ...more } = {}) {
  const heard = { requests: 0, errors: [], data: new Set(), preliminary: {}, inputs: {} };
  const page = new sdks[sdk].Chat({
    id: `ai-sdk / ${name}${sdk === 7 ? '' : ` / ${sdk}`}`,
    transport: new sdks[sdk].transport({
      api, body,
      ...(run && { prepareReconnectToStreamRequest: () => ({ api: `${url}/runs/${run}/events?protocol=${(headers ?? sdks[sdk].headers)?.['x-protocol'] ?? 'ai-sdk'}` }) }),
      headers: { 'x-agent-schema-name': schema, ...(headers ?? sdks[sdk].headers) },
      fetch: (address, init) => { heard.requests++; return (through ?? fetch)(address, init); },
    }),
    onError: (err) => heard.errors.push(/^Type validation/.test(err.message) ? 'a part that the SDK does not know' : err.message),
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

// sides plays a scenario with several versions at once.
const sides = (play, older = [6, 5]) => async (name) => {
  const [all, ...others] = await Promise.all([7, ...older].map((sdk) => play(name, sdk)));
  const out = { ...all, same: [] };
  older.forEach((sdk, i) => {
    played(`ai-${sdk}`, name);
    if (JSON.stringify(others[i]) === JSON.stringify(all)) out.same.push(sdk);
    else out[`ai ${sdk}`] = others[i];
  });
  return out;
};

// part is what a page shows of a part; data parts are told apart only by their name.
function part(p) {
  if (p.type === 'text') return `text: ${abridged(p.text)}`;
  if (p.type.startsWith('source-')) return `${p.type}: ${JSON.stringify({ ...p, type: undefined })}`;
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
const sent = (schema, text, sorted) => async (name, sdk) => {
  const chat = open(name, schema, { sdk });
  await chat.page.sendMessage({ text });
  return told(chat, sorted);
};

const settled = ({ page }) => until('the chat is ready', () => page.status === 'ready' || page.status === 'error');

// asked answers every approval that a turn asks for.
const asked = (schema, text, answer, sorted) => async (name, sdk) => {
  const chat = open(name, schema, { sdk, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
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
  'a text': sides(sent('desk', 'Good morning!')),
  'tools in parallel': sides(sent('desk', 'Read two pages.')),
  delegation: sides(sent('desk', 'How many otters are there?', true)),
  'a child in place of its parent': sent('editor', 'Write about the otters.'),
  'a grandchild': sent('desk', 'Ask the warden.'),
  'a structured agent': sent('ledger', 'Count the otters.'),

  sources: async (name) => {
    const form = new FormData();
    form.set('file', new Blob(['# Otters\n\nOtters sleep on their backs.\n']), 'otter-guide.md');
    const { status } = await fetch(`${url}/content/`, { method: 'POST', body: form });
    return { upload: status, ...await sides(sent('librarian', 'How do otters sleep?'))(name) };
  },
  'data parts': sides(async (name, sdk) => {
    // The SDK replaces the data of the part that it gave to onData first.
    const heard = [];
    const { page } = open(name, 'planner', { sdk, onData: (data) => { heard.push(structuredClone(data)); } });
    await page.sendMessage({ text: 'Make the pond ready.' });
    const named = (list) => list.map(({ type, id }) => `${type}${id ? ` ${id}` : ''}`);
    const kept = page.lastMessage.parts.filter(({ type }) => type.startsWith('data-'));
    return {
      plans: heard.filter(({ type }) => type === 'data-state').map(({ data }) => planOf(data)),
      kept: named(kept).sort(), plan: planOf(kept.find(({ type }) => type === 'data-state').data),
      transient: [...new Set(named(heard.filter(({ transient }) => transient)))].sort(),
    };
  }),

  'an approval': sides(asked('keeper', 'An otter was born.', { approved: true }), [6]),
  'an approval, denied': sides(asked('keeper', 'An otter was born.', { approved: false, reason: 'not yet' }), [6]),
  'an approval of a child': sides(asked('desk', 'Tell the keeper.', { approved: true }), [6]),

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

  'a tool of the page': sides(async (name, sdk) => {
    const map = { description: 'Shows a map.', parameters: { type: 'object', properties: { area: { type: 'string' } } } };
    const chat = open(name, 'desk', {
      sdk,
      body: { tools: sdk === 7 ? [{ name: 'show_map', ...map }] : { show_map: map } },
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
  }),

  'an answer made again': sides(async (name, sdk) => {
    const chat = open(name, 'desk', { sdk });
    await chat.page.sendMessage({ text: 'Good morning!' });
    await chat.page.sendMessage({ text: 'Read two pages.' });
    const [, , , { id }] = chat.page.messages;
    await chat.page.regenerate();
    return { ...told(chat), another: chat.page.messages[3].id !== id, rows: await rows(chat.page.id) };
  }),

  'a message that is edited': sides(async (name, sdk) => {
    const chat = open(name, 'desk', { sdk });
    for (const text of ['Good morning!', 'Read two pages.']) await chat.page.sendMessage({ text });
    const [first, , , second] = chat.page.messages;
    await chat.page.sendMessage({ text: 'Good morning, once more!', messageId: first.id });
    const edited = { ...told(chat), rows: await rows(chat.page.id) };
    await chat.page.regenerate({ messageId: chat.page.messages[1].id });
    const path = `/sessions/${encodeURIComponent(chat.page.id)}/branches`;
    const branches = (await get(path)).map((b) => `${b.text ?? ''} ${b.message_count} ${b.current}`);
    const back = await post(path, { message_id: second.id });
    return { edited, again: chat.page.messages.map((m) => m.role), branches, back: back.status, rows: await rows(chat.page.id) };
  }),

  'approvals of version 5': async (name) => {
    const ask = async (what, headers) => {
      const chat = open(`${name}, ${what}`, 'keeper', { sdk: 5, headers });
      await chat.page.sendMessage({ text: 'An otter was born.' });
      const before = told(chat);
      const { data } = chat.page.lastMessage.parts.find((p) => p.type === 'data-request');
      const answer = await post(`/approvals/${data.request_id}`, { decision: 'deny' });
      const back = open(`${name}, ${what}, back`, 'keeper', { sdk: 5, headers, run: chat.page.lastMessage.metadata.run_id });
      await back.page.resumeStream();
      return { before, answer: answer.status, after: told(back) };
    };
    played('ai-5', name);
    return { named: await ask('named'), unnamed: await ask('unnamed', {}) };
  },

  'a transcript that is sent again': async (name) => {
    const chat = open(name, 'desk');
    for (const text of ['Read two pages.', 'Good morning!', 'Good morning, once more!']) await chat.page.sendMessage({ text });
    return { ...told(chat), rows: await rows(chat.page.id) };
  },

  'a stop': sides(async (name, sdk) => {
    const chat = open(name, 'desk', { sdk });
    const going = chat.page.sendMessage({ text: 'Tell me a long story.' });
    await until('the story begins', () => chat.page.lastMessage?.role === 'assistant' && spoken(chat.page).length > 20);
    const { status, body } = await post(`/api/chat/${encodeURIComponent(chat.page.id)}/stop`);
    await going;
    const [, answer] = await rows(chat.page.id);
    return {
      page: chat.page.status, errors: chat.heard.errors, stop: [status, body.status],
      kept: answer === `assistant: ${spoken(chat.page)} (cancelled)`,
    };
  }),

  'a connection that is lost': sides(async (name, sdk) => {
    let cut;
    const chat = open(name, 'desk', {
      sdk,
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
    const other = open(name, 'desk', { sdk });
    await Promise.all([chat.page.resumeStream(), other.page.resumeStream()]);
    const [, answer] = await rows(chat.page.id);
    return {
      lost, early: had < 100, back: chat.page.status, one: chat.page.messages.map((m) => m.role),
      whole: [chat, other].map((c) => answer === `assistant: ${spoken(c.page)}`),
      nothing: await get(`/api/chat/${encodeURIComponent(chat.page.id)}/stream`),
    };
  }),

  'a page that comes back when nothing runs': async (name) => {
    const chat = open(name, 'desk');
    await chat.page.resumeStream();
    return told(chat);
  },

  'a refusal': sides(sent('desk', 'Please refuse me.')),
  'a break': sides(sent('desk', 'Please break off.')),
  'an agent that there is not': sides(sent('dsek', 'Good morning!')),
}, 'ai');
