-- +goose Up
-- A SEARCH within a category reads the rows of that category first.
CREATE INDEX resources_category ON resources (tenant_id, category) WHERE deleted_at IS NULL AND category IS NOT NULL;
CREATE INDEX ontologies_category ON ontologies (tenant_id, category) WHERE deleted_at IS NULL AND category IS NOT NULL;
CREATE INDEX moments_category ON moments (tenant_id, category) WHERE deleted_at IS NULL AND category IS NOT NULL;
