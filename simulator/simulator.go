// Package simulator is an agent without a model: it plays scripted events, so that
// a front end can be built, tested and loaded without cost (REM's and REMLight's
// simulators).
package simulator
