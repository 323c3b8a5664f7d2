// Feeds the golden bytes of every protocol to the real clients, as a server would
// send them, and holds what these make of them against the events.
//
//   node protocols.mjs ../../stream/testdata/transcripts/*.txtar
//
// Each stream is read twice: as it is, and with a block "id: <n>" after every
// frame, which must change nothing. stdout: {"transcripts", "checks"}; what is
// wrong goes to stderr, and the exit code is 1.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Chat } from '@ai-sdk/react';
import { ChatOpenAI } from '@langchain/openai';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import OpenAI from 'openai';

let checks = 0;
let failures = 0;
const check = (where, got, want) => {
  checks++;
  if (isDeepStrictEqual(got, want)) return;
  failures++;
  console.error(`${where}:\n  got  ${JSON.stringify(got)}\n  want ${JSON.stringify(want)}`);
};

// A transcript: its sections by name, and what its events say.
const load = (file) => {
  const parts = readFileSync(file, 'utf8').split(/^-- (\S+) --\n/m);
  const section = {};
  for (let i = 1; i < parts.length; i += 2) section[parts[i]] = parts[i + 1];
  const past = Number(/^past (\d+)/.exec(section.reader ?? '')?.[1] ?? 0);
  const all = section.events.trim().split('\n').map((line) => JSON.parse(line));
  const events = all.filter((e) => e.seq > past);
  const child = (e) => e.agent.includes('/');
  const announced = new Set(all.filter((e) => e.type === 'child_run').map((e) => e.run_id));
  const text = (pick) => events.filter((e) => e.type === 'text' && e.text && pick(e)).map((e) => e.text).join('');
  const done = events.find((e) => e.type === 'done' && !child(e))?.data;
  const failed = events.some((e) => e.type === 'error' && !child(e)) || done?.reason === 'error';
  const structured = (said) => (said === '' && done?.output ? JSON.stringify(done.output) : said);
  return {
    name: basename(file, '.txtar'), section, past, events, done, failed,
    completion: JSON.parse(section.completion),
    own: failed ? text((e) => !child(e)) : structured(text((e) => !child(e))),
    children: [...new Set(events.filter((e) => child(e) && e.type === 'text').map((e) => e.run_id))]
      .map((run) => [run, text((e) => e.run_id === run)]),
    // All of it, as an OpenAI client reads it.
    whole: text(() => true) + (failed || text((e) => !child(e)) ? '' : structured('')),
    // What an AI SDK client shows of children that no call is known of.
    stray: text((e) => child(e) && !announced.has(e.run_id)),
  };
};

// Servers: a fetch that answers with the given streams, one after the other.
const serve = (...streams) => {
  const bodies = [];
  const fetch = async (_url, init) => {
    bodies.push(init?.body ? JSON.parse(init.body) : null);
    const bytes = Buffer.from(streams.shift() ?? '');
    return new Response(new ReadableStream({
      start(c) {
        // Cut where no frame ends, as networks do.
        for (let i = 0; i < bytes.length; i += 97) c.enqueue(new Uint8Array(bytes.subarray(i, i + 97)));
        c.close();
      },
    }), { status: 200, headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' } });
  };
  return { fetch, bodies };
};
const withIDs = (stream) => {
  let n = 0;
  return stream.split('\n\n').map((frame) => (frame.trim() ? `${frame}\n\nid: ${++n}` : frame)).join('\n\n');
};

// OpenAI's clients: each gives {text, finish, calls} or throws.
const openai = {
  async raw(fetch) {
    const client = new OpenAI({ baseURL: 'http://p8/v1', apiKey: 'x', maxRetries: 0, fetch });
    const out = { text: '', finish: null, calls: [] };
    for await (const chunk of await client.chat.completions.create({ model: 'm', messages: [], stream: true })) {
      const choice = chunk.choices[0];
      out.text += choice.delta.content ?? '';
      for (const call of choice.delta.tool_calls ?? []) out.calls[call.index] = { name: call.function.name, args: call.function.arguments };
      out.finish = choice.finish_reason ?? out.finish;
    }
    return out;
  },
  async stream(fetch) {
    const client = new OpenAI({ baseURL: 'http://p8/v1', apiKey: 'x', maxRetries: 0, fetch });
    const { message, finish_reason: finish } = (await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()).choices[0];
    return { text: message.content ?? '', finish, calls: (message.tool_calls ?? []).map((c) => ({ name: c.function.name, args: c.function.arguments })) };
  },
  async compatible(fetch) {
    const model = createOpenAICompatible({ name: 'p8', baseURL: 'http://p8/v1', fetch }).chatModel('m');
    const out = { text: '', finish: null, calls: [] };
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] });
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') out.text += part.delta;
      if (part.type === 'tool-call') out.calls.push({ name: part.toolName, args: part.input });
      if (part.type === 'finish') out.finish = part.finishReason.raw;
    }
    return out;
  },
  async langchain(fetch) {
    const model = new ChatOpenAI({ model: 'm', apiKey: 'x', maxRetries: 0, configuration: { baseURL: 'http://p8/v1', fetch } });
    let all;
    for await (const chunk of await model.stream('x')) all = all ? all.concat(chunk) : chunk;
    return {
      text: all.content, finish: all.response_metadata.finish_reason,
      calls: (all.tool_calls ?? []).map((c) => ({ name: c.name, args: JSON.stringify(c.args) })),
    };
  },
};

async function checkOpenAI(t) {
  for (const format of ['polyglot', 'none']) {
    for (const [name, client] of Object.entries(openai)) {
      // .stream() wants a choice in every chunk but that of the usage; raw loops too.
      const bytes = name === 'raw' ? t.section[format].replace(/^data: .*"choices":\[\],.*\n\n/m, '') : t.section[format];
      for (const stream of format === 'none' ? [bytes] : [bytes, withIDs(bytes)]) {
        const where = `${t.name} ${format} ${name}`;
        let got;
        try {
          got = await client(serve(stream).fetch);
        } catch (err) {
          got = { error: true };
          if (!t.failed) console.error(err);
        }
        const choice = t.completion.choices?.[0];
        check(where, got, t.failed ? { error: true } : {
          text: t.whole,
          finish: choice.finish_reason,
          calls: (choice.message.tool_calls ?? []).map((c) => ({ name: c.function.name, args: c.function.arguments })),
        });
      }
    }
  }
}

// AG-UI: HttpAgent checks the order of the events and gathers the messages.
async function runAGUI(agent, parameters) {
  const seen = { finished: null, error: null, custom: [], subagents: 0 };
  await agent.runAgent(parameters, {
    onRunFinishedEvent: (p) => { seen.finished = p; },
    onRunErrorEvent: ({ event }) => { seen.error = event.message; },
    onCustomEvent: ({ event }) => { seen.custom.push(event.name); },
    onSubagentStartedEvent: () => { seen.subagents++; },
  });
  return seen;
}
const said = (messages, run) => messages
  .filter((m) => m.role === 'assistant' && m.subagentRunId === run).map((m) => m.content ?? '').join('');

async function checkAGUI(t) {
  for (const stream of [t.section['ag-ui'], withIDs(t.section['ag-ui'])]) {
    const agent = new HttpAgent({ url: 'http://p8/chat', fetch: serve(stream).fetch });
    const seen = await runAGUI(agent);
    check(`${t.name} ag-ui error`, seen.error !== null, t.failed);
    check(`${t.name} ag-ui text`, said(agent.messages, undefined), t.own);
    for (const [run, text] of t.children) check(`${t.name} ag-ui text of ${run}`, said(agent.messages, run), text);
    if (t.failed) continue;
    const outcome = { paused: 'interrupt', cancelled: 'cancelled' }[t.done.reason] ?? 'success';
    check(`${t.name} ag-ui outcome`, seen.finished.outcome, outcome);
    if (outcome === 'success') {
      const own = t.events.filter((e) => e.data?.client && e.data.status === 'executing').map((e) => e.data.tool_id);
      check(`${t.name} ag-ui pending calls`, seen.finished.pendingToolCallIds, own);
    }
    const ids = t.events.filter((e) => e.type === 'action_request' && e.data.request_id).map((e) => e.data.request_id);
    check(`${t.name} ag-ui interrupts`, agent.pendingInterrupts.map((i) => i.id), outcome === 'interrupt' ? ids : []);
  }
}

// The AI SDK: the Chat class of @ai-sdk/react.
const newChat = (server, more = {}) => {
  const errors = [];
  const data = [];
  const chat = new Chat({
    id: 'c1',
    transport: new DefaultChatTransport({ api: 'http://p8/chat', fetch: server.fetch }),
    onError: (err) => errors.push(err.message),
    onData: (part) => data.push(part.type),
    ...more,
  });
  return { chat, errors, data };
};
const lastText = (chat) => chat.lastMessage.parts.filter((p) => p.type === 'text').map((p) => p.text).join('');

async function checkAISDK(t) {
  if (t.past) return; // needs the part before: checkApproval
  for (const stream of [t.section['ai-sdk'], withIDs(t.section['ai-sdk'])]) {
    const { chat, errors } = newChat(serve(stream));
    await chat.sendMessage({ text: 'x' });
    check(`${t.name} ai-sdk errors`, errors, t.failed ? [t.completion.error.message] : []);
    if (chat.lastMessage.role !== 'assistant') continue;
    check(`${t.name} ai-sdk text`, lastText(chat), t.stray ? t.whole : t.own);
    check(`${t.name} ai-sdk id`, chat.lastMessage.id, 'msg1');
    check(`${t.name} ai-sdk open parts`, chat.lastMessage.parts.filter((p) => p.state === 'streaming'), []);
  }
}

// An approval in two protocols: asked, answered, gone on with.
async function checkApproval(before, after) {
  const server = serve(before.section['ai-sdk'], after.section['ai-sdk']);
  const { chat, errors } = newChat(server, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  await chat.sendMessage({ text: 'x' });
  const state = (id) => chat.lastMessage.parts.find((p) => p.toolCallId === id)?.state;
  check('approval asked', [state('call_1'), state('call_c')], ['approval-requested', 'approval-requested']);
  await chat.addToolApprovalResponse({ id: 'q1', approved: false, reason: 'not now' });
  check('approval: one of two answered', server.bodies.length, 1);
  await chat.addToolApprovalResponse({ id: 'q2', approved: true });
  while (chat.status !== 'ready' && chat.status !== 'error') await new Promise((resolve) => { setTimeout(resolve, 5); });
  check('approval sent', server.bodies.length, 2);
  check('approval errors', errors, []);
  check('approval results', ['call_1', 'call_c', 'call_2', 'call_3'].map(state),
    ['output-denied', 'output-available', 'output-available', 'output-available']);
  check('approval: no call twice', chat.lastMessage.parts.filter((p) => p.type === 'dynamic-tool').length, 4);
  check('approval: one message', [chat.messages.length, chat.lastMessage.id], [2, 'msg1']);
  check('approval text', lastText(chat), before.own + after.own);

  await checkResume(before, after.section['replay-ai-sdk']);
  const whole = newChat(serve(after.section['replay-ai-sdk'])).chat;
  await whole.resumeStream();
  check('approval replayed', lastText(whole), before.own + after.own);

  const ui = serve(before.section['ag-ui'], after.section['ag-ui']);
  const agent = new HttpAgent({ url: 'http://p8/chat', fetch: ui.fetch });
  await runAGUI(agent);
  await runAGUI(agent, {
    resume: [
      { interruptId: 'q1', status: 'resolved', payload: { approved: false } },
      { interruptId: 'q2', status: 'resolved', payload: { approved: true } },
    ],
  });
  check('approval ag-ui text', said(agent.messages, undefined), before.own + after.own);
  check('approval ag-ui child', said(agent.messages, 'r2'), 'Cleaning. Done.');
  const calls = agent.messages.flatMap((m) => m.toolCalls ?? []).map((c) => c.id);
  const results = agent.messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId);
  check('approval ag-ui calls', calls.sort(), ['call_1', 'call_2', 'call_3', 'call_c']);
  check('approval ag-ui results', results.sort(), ['call_1', 'call_2', 'call_3', 'call_c']);
}

// The client's own tools, run by it, in two protocols.
async function checkClientTools(before, after) {
  const server = serve(before.section['ai-sdk'], after.section['ai-sdk']);
  const asked = [];
  const { chat, errors } = newChat(server, {
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall }) => {
      if (toolCall.dynamic) return; // as the SDK's documentation has it
      asked.push(toolCall.toolName);
      if (toolCall.toolName === 'open_page') chat.addToolOutput({ tool: 'open_page', toolCallId: toolCall.toolCallId, output: { title: 'Example' } });
      else chat.addToolOutput({ tool: 'confirm', toolCallId: toolCall.toolCallId, state: 'output-error', errorText: 'the user said no' });
    },
  });
  await chat.sendMessage({ text: 'x' });
  while (server.bodies.length < 2 || chat.status !== 'ready') await new Promise((resolve) => { setTimeout(resolve, 5); });
  check('client tools asked', asked, ['open_page', 'confirm']);
  check('client tools errors', errors, []);
  check('client tools text', lastText(chat), before.own + after.own);
  const states = (c) => c.lastMessage.parts.filter((p) => p.toolCallId).map((p) => [p.type, p.state]);
  const want = [['tool-open_page', 'output-available'], ['dynamic-tool', 'output-available'], ['tool-confirm', 'output-error']];
  check('client tools results', states(chat), want);
  check('client tools: no third request', server.bodies.length, 2);
  const whole = newChat(serve(after.section['replay-ai-sdk'])).chat;
  await whole.resumeStream();
  check('client tools replayed', [lastText(whole), states(whole)], [before.own + after.own, want]);

  const ui = serve(before.section['ag-ui'], after.section['ag-ui']);
  const agent = new HttpAgent({ url: 'http://p8/chat', fetch: ui.fetch });
  const seen = await runAGUI(agent);
  check('client tools ag-ui', seen.finished.pendingToolCallIds, ['call_1', 'call_3']);
  for (const id of seen.finished.pendingToolCallIds) agent.addMessage({ id: `r-${id}`, role: 'tool', toolCallId: id, content: 'ok' });
  await runAGUI(agent);
  check('client tools ag-ui text', said(agent.messages, undefined), before.own + after.own);
  const results = agent.messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId);
  check('client tools ag-ui results', results.sort(), ['call_1', 'call_2', 'call_3']);
}

// A chat that lost its connection in the middle, and one that was loaded anew,
// come back and read the whole again.
async function checkResume(t, replay) {
  const half = t.section['ai-sdk'].slice(0, t.section['ai-sdk'].length * 0.6);
  let calls = 0;
  const fetch = async (url, init) => {
    calls++;
    if (init?.method === 'GET') return serve(replay).fetch(url, init);
    let sent = false;
    return new Response(new ReadableStream({
      pull(c) {
        if (sent) throw new TypeError('network error');
        sent = true;
        c.enqueue(Buffer.from(half));
      },
    }), { status: 200, headers: { 'content-type': 'text/event-stream' } });
  };
  const { chat } = newChat({ fetch });
  await chat.sendMessage({ text: 'x' });
  await chat.resumeStream();
  const whole = newChat(serve(replay)).chat;
  await whole.resumeStream();
  check(`${t.name} resumed`, calls, 2);
  check(`${t.name} resumed: one answer`, chat.messages.map((m) => m.role), ['user', 'assistant']);
  check(`${t.name} resumed: the same parts`, chat.lastMessage.parts, whole.lastMessage.parts);
  check(`${t.name} resumed: status`, [chat.status, whole.status], ['ready', 'ready']);
}

const all = process.argv.slice(2).map(load);
for (const t of all) {
  await checkOpenAI(t);
  await checkAGUI(t);
  await checkAISDK(t);
}
const named = (name) => all.find((t) => t.name === name);
for (const t of all.filter((x) => !x.past && !x.failed)) await checkResume(t, t.section['ai-sdk']);
if (named('approval') && named('approval-continued')) await checkApproval(named('approval'), named('approval-continued'));
if (named('client-tools') && named('client-tools-continued')) await checkClientTools(named('client-tools'), named('client-tools-continued'));
console.log(JSON.stringify({ transcripts: all.length, checks }));
process.exit(failures > 0 || checks === 0 ? 1 : 0);
