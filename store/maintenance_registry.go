package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/identity"
)

// The registry: schemas rows of this kind describe the tables.
const (
	KindTable      = "table"
	registryOrigin = "registry"
)

// PutRegistry mirrors the list of tables into schemas, as rows of kind "table" that every
// caller reads, so that a SELECT can find the tables. It writes only changed rows, and
// never a row that a person wrote.
func (m Maintenance) PutRegistry(ctx context.Context) error {
	ctx = identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
	rows, _, err := m.store.Schemas(ctx, SchemaFilter{Kind: KindTable, Limit: 1000})
	if err != nil {
		return err
	}
	stored := make(map[string]string)
	for _, d := range rows {
		stored[d.Name] = d.Hash
	}
	for _, t := range tables {
		d := t.registered()
		if stored[d.Name] == d.Hash {
			continue
		}
		if err := m.store.PutSchema(ctx, d); err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return nil
}

// registered returns the table as a row of the registry.
func (t *table) registered() *Schema {
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(encode(struct {
		Type        string `json:"type"`
		Description string `json:"description"`
		Entity      string `json:"entity_type"`
		Keyed       bool   `json:"has_kv_sync"`
		Embedded    bool   `json:"has_embeddings"`
		Field       string `json:"embedding_field,omitempty"`
	}{"object", t.Description, t.Type, t.Keyed, t.EmbeddingField != "", t.EmbeddingField}), []byte("}")))
	// In the order of the columns, which a map would lose.
	b.WriteString(`,"properties":{`)
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(c.Name))
		b.WriteByte(':')
		b.WriteString(map[string]string{
			"text": `{"type":"string"}`, "integer": `{"type":"integer"}`, "number": `{"type":"number"}`,
			"timestamp": `{"type":"string","format":"date-time"}`, "json": `{"type":["object","array"]}`,
		}[c.Type])
	}
	b.WriteString("}}")
	return &Schema{
		Name: t.Name, Kind: KindTable, Description: t.Description, JSONSchema: json.RawMessage(b.Bytes()), Origin: registryOrigin,
		Hash: hashText(b.String()), Shared: true,
	}
}
