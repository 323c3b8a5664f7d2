// @ts-check
// Holds one and the same conversation with each vendor's own SDK, in the shape that
// its types declare, and reads the answer as the SDK streams it.
//
// stdin:  {"vendor": "openai" | "openai-responses" | "anthropic" | "gemini", "url", "model"}
// stdout: {"text", "toolCalls": [{"name", "arguments"}],
//          "usage": {"input", "output", "cached", "reasoning"}}
//
// The tokens are named as p8 names them: input is with what was cached, output with
// what was thought.
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { text as readAll } from 'node:stream/consumers';

const { vendor, url, model } = JSON.parse(await readAll(process.stdin));
const apiKey = 'unused';

const system = 'You compare cities & say <little>.';
const question = 'Wie warm ist es in Zürich, und wo ist das? 🌍';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const aside = 'Let me look.';
const weather = { city: 'Zürich', days: 2 };
const find = { query: '"Zürich"', near: [47.4, 8.5] };
const warm = { degrees: 4, sky: 'grey' };
const found = 'Zürich is in Switzerland.\n';
const weatherSchema = {
  type: /** @type {const} */ ('object'),
  properties: {
    city: { type: 'string', description: 'Its name' },
    days: { type: 'integer', minimum: 1 },
  },
  required: ['city'],
};
const findSchema = {
  type: /** @type {const} */ ('object'),
  properties: {
    query: { type: 'string' },
    near: { type: 'array', items: { type: 'number' } },
    kind: { enum: ['city', 'river'], type: 'string' },
  },
  required: ['query'],
  additionalProperties: false,
};
const temperature = 0.25;
const limit = 300;

/** @returns {{ text: string, toolCalls: object[], usage: object }} */
const empty = () => ({ text: '', toolCalls: [], usage: {} });

const vendors = {
  async openai() {
    const stream = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.stream({
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: [
          { type: 'text', text: question },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ] },
        { role: 'assistant', content: aside, tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'weather', arguments: JSON.stringify(weather) } },
          { id: 'call_b', type: 'function', function: { name: 'find', arguments: JSON.stringify(find) } },
        ] },
        { role: 'tool', tool_call_id: 'call_a', content: JSON.stringify(warm) },
        { role: 'tool', tool_call_id: 'call_b', content: found },
      ],
      tools: [
        { type: 'function', function: { name: 'weather', description: 'Tells the weather.', parameters: weatherSchema } },
        { type: 'function', function: { name: 'find', parameters: findSchema } },
      ],
      temperature,
      max_completion_tokens: limit,
      prompt_cache_key: 'geographer',
      stream_options: { include_usage: true },
    });
    const { choices: [{ message }], usage } = await stream.finalChatCompletion();
    return {
      text: message.content ?? '',
      toolCalls: (message.tool_calls ?? []).flatMap((c) => (
        c.type === 'function' ? [{ name: c.function.name, arguments: JSON.parse(c.function.arguments) }] : []
      )),
      usage: {
        input: usage?.prompt_tokens,
        output: usage?.completion_tokens,
        cached: usage?.prompt_tokens_details?.cached_tokens,
        reasoning: usage?.completion_tokens_details?.reasoning_tokens,
      },
    };
  },

  async 'openai-responses'() {
    const stream = await new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).responses.create({
      model,
      input: [
        { role: 'system', content: system },
        { role: 'user', content: [
          { type: 'input_text', text: question },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
        ] },
        { role: 'assistant', content: aside },
        { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: JSON.stringify(weather) },
        { type: 'function_call', call_id: 'call_b', name: 'find', arguments: JSON.stringify(find) },
        { type: 'function_call_output', call_id: 'call_a', output: JSON.stringify(warm) },
        { type: 'function_call_output', call_id: 'call_b', output: found },
      ],
      tools: [
        { type: 'function', name: 'weather', description: 'Tells the weather.', parameters: weatherSchema, strict: false },
        { type: 'function', name: 'find', parameters: findSchema, strict: false },
      ],
      temperature,
      max_output_tokens: limit,
      reasoning: { summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'geographer',
      store: false,
      stream: true,
    });
    const answer = empty();
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') answer.text += event.delta;
      if (event.type === 'response.output_item.done' && event.item.type === 'function_call') {
        answer.toolCalls.push({ name: event.item.name, arguments: JSON.parse(event.item.arguments) });
      }
      if (event.type === 'response.completed') {
        const { usage } = event.response;
        answer.usage = {
          input: usage?.input_tokens,
          output: usage?.output_tokens,
          cached: usage?.input_tokens_details.cached_tokens,
          reasoning: usage?.output_tokens_details.reasoning_tokens,
        };
      }
    }
    return answer;
  },

  async anthropic() {
    const { content, usage } = await new Anthropic({ apiKey, baseURL: url, maxRetries: 0 }).messages.stream({
      model,
      system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [
          { type: 'text', text: question },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        ] },
        { role: 'assistant', content: [
          { type: 'text', text: aside },
          { type: 'tool_use', id: 'call_a', name: 'weather', input: weather },
          { type: 'tool_use', id: 'call_b', name: 'find', input: find },
        ] },
        { role: 'user', content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: JSON.stringify(warm) },
          { type: 'tool_result', tool_use_id: 'call_b', content: found, cache_control: { type: 'ephemeral' } },
        ] },
      ],
      tools: [
        { name: 'weather', description: 'Tells the weather.', input_schema: weatherSchema },
        { name: 'find', input_schema: findSchema, cache_control: { type: 'ephemeral' } },
      ],
      max_tokens: limit,
    }).finalMessage();
    const cached = usage.cache_read_input_tokens ?? 0;
    return {
      text: content.map((b) => (b.type === 'text' ? b.text : '')).join(''),
      toolCalls: content.flatMap((b) => (b.type === 'tool_use' ? [{ name: b.name, arguments: b.input }] : [])),
      usage: {
        input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
        output: usage.output_tokens,
        cached,
        reasoning: usage.output_tokens_details?.thinking_tokens,
      },
    };
  },

  async gemini() {
    const stream = await new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }).models.generateContentStream({
      model,
      contents: [
        { role: 'user', parts: [{ text: question }, { inlineData: { mimeType: 'image/png', data: png } }] },
        { role: 'model', parts: [
          { text: aside },
          { functionCall: { id: 'call_a', name: 'weather', args: weather } },
          { functionCall: { id: 'call_b', name: 'find', args: find } },
        ] },
        { role: 'user', parts: [
          { functionResponse: { id: 'call_a', name: 'weather', response: warm } },
          { functionResponse: { id: 'call_b', name: 'find', response: { result: found } } },
        ] },
      ],
      config: {
        systemInstruction: system,
        tools: [{ functionDeclarations: [
          { name: 'weather', description: 'Tells the weather.', parametersJsonSchema: weatherSchema },
          { name: 'find', parametersJsonSchema: findSchema },
        ] }],
        temperature,
        maxOutputTokens: limit,
      },
    });
    const answer = empty();
    for await (const { candidates, functionCalls, usageMetadata: usage } of stream) {
      for (const part of candidates?.[0].content?.parts ?? []) {
        if (!part.thought) answer.text += part.text ?? '';
      }
      answer.toolCalls.push(...(functionCalls ?? []).map((c) => ({ name: c.name, arguments: c.args ?? {} })));
      if (!usage) continue;
      answer.usage = {
        input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
        output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
        cached: usage.cachedContentTokenCount,
        reasoning: usage.thoughtsTokenCount,
      };
    }
    return answer;
  },
};

console.log(JSON.stringify(await vendors[vendor]()));
