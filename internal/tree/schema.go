package tree

import (
	"slices"
	"strings"
)

// schemaKeys are the keywords of JSON Schema (2020-12 and the older ones that are still
// written); at the root of a document they are the schema part.
var schemaKeys = strings.Fields(`$schema $id $anchor $dynamicAnchor $ref $dynamicRef $defs $comment $vocabulary definitions
	type title description default examples deprecated readOnly writeOnly enum const
	properties required additionalProperties patternProperties propertyNames unevaluatedProperties minProperties maxProperties
	dependentRequired dependentSchemas dependencies items prefixItems additionalItems contains minContains maxContains
	minItems maxItems uniqueItems unevaluatedItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
	minLength maxLength pattern format contentEncoding contentMediaType contentSchema
	allOf anyOf oneOf not if then else nullable discriminator example`)

// SchemaKeys returns the keywords of JSON Schema.
func SchemaKeys() []string { return schemaKeys }

// IsSchemaKey reports whether a key is a keyword of JSON Schema.
func IsSchemaKey(key string) bool { return slices.Contains(schemaKeys, key) }
