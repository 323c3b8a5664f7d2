// Package bench measures what p8 itself costs: the time and the allocations of
// a turn without a real model, with everything else in place; and the knowledge
// base on both engines, beside what their drivers alone take and what a ranking
// of every row finds. README.md has the method, the bounds and the numbers; the
// tests hold the bounds on allocations, which are the same on every machine, and
// the recall.
package bench
