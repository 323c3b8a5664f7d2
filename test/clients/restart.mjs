// Reads a run with the clients of AG-UI and of the AI SDK while its server dies and
// another one goes on with it.
//
// stdin:  {"url", "run", "seen": what to call when both show text, "piece": some text}
// stdout: {client: {"shown": the text at the end, "error"}}
import { HttpAgent } from '@ag-ui/client';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { text as readAll } from 'node:stream/consumers';

const { url, run, seen, piece } = JSON.parse(await readAll(process.stdin));
const events = (protocol) => `${url}/runs/${run}/events?protocol=${protocol}`;
console.error = () => {};

let waiting = 2;
const saw = () => { if (--waiting === 0) fetch(seen, { method: 'POST' }); };
const watched = (read) => {
  let told = false;
  return () => {
    if (told || !read().includes(piece)) return;
    told = true;
    saw();
  };
};

async function agui() {
  const agent = new HttpAgent({
    url: events('ag-ui'), threadId: 'restart', fetch: (address, init) => fetch(address, { signal: init.signal }),
  });
  const shown = () => agent.messages.filter((m) => m.role === 'assistant').map((m) => m.content ?? '').join('');
  const look = watched(shown);
  await agent.runAgent({}, { onTextMessageContentEvent: () => { setTimeout(look, 0); } });
  return { shown: shown() };
}

async function aisdk() {
  const page = new Chat({
    id: 'restart',
    transport: new DefaultChatTransport({ api: `${url}/api/chat`, prepareReconnectToStreamRequest: () => ({ api: events('ai-sdk') }) }),
  });
  const shown = () => (page.lastMessage?.parts ?? []).filter((p) => p.type === 'text').map((p) => p.text).join('');
  page['~registerMessagesCallback'](watched(shown));
  await page.resumeStream();
  return { shown: shown(), error: page.error?.message };
}

const [a, b] = await Promise.allSettled([agui(), aisdk()]);
const told = (r) => r.value ?? { error: String(r.reason?.message ?? r.reason) };
process.stdout.write(`${JSON.stringify({ agui: told(a), aisdk: told(b) })}\n`, () => process.exit(0));
