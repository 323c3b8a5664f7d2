-- +goose Up
-- A row names the id of a tool call tool_call_id; this is that of the agent above.
ALTER TABLE messages RENAME COLUMN parent_call_id TO parent_tool_call_id;
