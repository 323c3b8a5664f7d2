// Talks to an MCP server the way a client built on the TypeScript SDK does.
//
// stdin:  {"url", "headers"?} or {"command", "args", "env"}, and
//         {"calls": [{"name", "arguments"}], "read": [uri], "complete": [{"uri", "name", "value"}],
//          "subscribe"?: uri, "change"?: {"name", "arguments"}}
// stdout: {"server", "instructions", "capabilities", "tools", "resources", "templates", "prompts",
//          "calls": [{"text", "structured", "isError"}], "read": [text], "complete": [[value]],
//          "updated": uri}
//
// change is a call that changes what is subscribed to.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { text as readAll } from 'node:stream/consumers';

const input = JSON.parse(await readAll(process.stdin));
const transport = input.url
  ? new StreamableHTTPClientTransport(new URL(input.url), { requestInit: { headers: input.headers ?? {} } })
  : new StdioClientTransport({ command: input.command, args: input.args, env: input.env, stderr: 'inherit' });
const client = new Client({ name: 'p8-test', version: '1.0.0' });
await client.connect(transport);

// Listing the tools first lets the SDK hold results against their schemas.
const out = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  capabilities: client.getServerCapabilities(),
  tools: (await client.listTools()).tools,
  resources: (await client.listResources()).resources.map((r) => r.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
  prompts: (await client.listPrompts()).prompts.map((p) => p.name),
  calls: [],
  read: [],
  complete: [],
};
const call = async ({ name, arguments: args }) => {
  const res = await client.callTool({ name, arguments: args });
  return { text: res.content[0]?.text, structured: res.structuredContent ?? null, isError: res.isError ?? false };
};
for (const c of input.calls ?? []) out.calls.push(await call(c));
for (const uri of input.read ?? []) out.read.push((await client.readResource({ uri })).contents[0].text);
for (const { uri, name, value } of input.complete ?? []) {
  const res = await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } });
  out.complete.push(res.completion.values);
}
if (input.subscribe) {
  const updated = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri));
  });
  await client.subscribeResource({ uri: input.subscribe });
  out.calls.push(await call(input.change));
  out.updated = await updated;
  await client.unsubscribeResource({ uri: input.subscribe });
}
if (input.url) await transport.terminateSession();
await client.close();
process.stdout.write(JSON.stringify(out));
