// Package strictapi has providers of models that refuse JSON Schemas as the real ones
// do. A [Server] speaks every wire; [OpenAI], [Anthropic], [Gemini] and [GeminiOpenAPI]
// judge one schema. The package shares no code with p8's fitting of schemas, which it
// judges.
package strictapi
