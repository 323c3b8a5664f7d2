// Package bench measures the cost of p8 itself: the time and the allocations of a turn
// without a real model; and the knowledge base on both engines, compared with the
// drivers alone and with an exact ranking. README.md has the method, the bounds and the
// numbers. The tests check the bounds of allocations, which are equal on every machine,
// and the recall.
package bench
