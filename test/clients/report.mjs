// What the scripts that talk to a running p8 share: they read {"url"} on stdin, play
// their scenarios one after the other, and print {"scenario": what the client made of
// it}; what a scenario throws is {"thrown"}. "clients" says which version of which
// package played which scenarios: "*" is every one.
import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';

export const input = JSON.parse(await readAll(process.stdin));
export const { url } = input;

const clients = new Map();

// played notes that a package, by its folder in node_modules, played a scenario.
export function played(folder, scenario) {
  if (!clients.has(folder)) clients.set(folder, new Set());
  clients.get(folder).add(scenario);
}

// client is a package and its version.
function client(folder) {
  const { name, version } = JSON.parse(readFileSync(new URL(`./node_modules/${folder}/package.json`, import.meta.url)));
  return `${name} ${version}`;
}

// report plays the scenarios. The packages play each of them.
export async function report(scenarios, ...packages) {
  const all = {};
  for (const [name, play] of Object.entries(scenarios)) {
    for (const folder of packages) played(folder, name);
    try {
      all[name] = await play(name);
    } catch (err) {
      all[name] = { thrown: String(err?.message ?? err) };
    }
  }
  all.clients = Object.fromEntries([...clients].map(([folder, names]) => [client(folder), names.size === Object.keys(scenarios).length ? '*' : [...names]]).sort());
  process.stdout.write(`${layOut(all)}\n`, () => process.exit(0));
}

// layOut is JSON that people read: what fits on a line is on one. What differs from
// run to run has no place in it.
function layOut(value, indent = '') {
  const line = JSON.stringify(value, (_, v) => (typeof v === 'string' ? settled(v) : v));
  if (value === null || typeof value !== 'object' || line.length + indent.length <= 110) return line;
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((v) => layOut(v, deeper))
    : Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => `${JSON.stringify(k)}: ${layOut(v, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((p) => deeper + p).join(',\n')}\n${indent}${close}`;
}
const settled = (text) => text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
  .replace(/\d{4}-\d{2}-\d{2}T\d{2}:[\d:.]+Z/g, '<time>');

// until waits for what takes well under a second.
export async function until(what, done) {
  const end = Date.now() + 20_000;
  while (!done()) {
    if (Date.now() > end) throw new Error(`${what}: not within 20 s`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}

// get reads a route of p8's own; post sends to one.
export async function get(path) {
  const res = await fetch(url + path);
  return res.status === 204 ? null : res.json();
}
export async function post(path, body) {
  const res = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) });
  return { status: res.status, body: await res.json().catch(() => null) };
}

// rows are a session as it is stored, a line a message.
export async function rows(session) {
  const all = await get(`/sessions/${encodeURIComponent(session)}/messages?limit=500`);
  return inOrder('tool_response', all.map((row) => {
    const what = row.message_type.startsWith('tool') ? `${row.tool_name} ${row.tool_call_id}` : row.content;
    const status = ['', 'complete', 'completed', undefined].includes(row.status) ? '' : ` (${row.status})`;
    return `${row.message_type}: ${what}${status}`;
  }));
}

// inOrder sorts the lines that stand together and begin so: the results of one step
// come as they are ready.
export function inOrder(prefix, lines) {
  const out = [];
  for (const line of lines) {
    let at = out.length;
    while (line.startsWith(prefix) && at > 0 && out[at - 1].startsWith(prefix) && out[at - 1] > line) at--;
    out.splice(at, 0, line);
  }
  return out;
}

// planOf is the plan in a shared state, as a page shows it.
export function planOf({ steps = [] }) {
  return steps.map(({ description, status }) => `[${status === 'completed' ? 'x' : ' '}] ${description}`).join(', ');
}

// abridged is the beginning of a long text, and how long it is.
export function abridged(text) {
  const plain = settled(text);
  return plain.length > 90 ? `${plain.slice(0, 60)}… (${plain.length})` : plain;
}
