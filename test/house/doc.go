// Package house holds the architecture of p8 as tests: which package may import
// which, what every package must explain about itself, and what no file may
// hold. When one of them fails, the message says what to change; to change the
// rule instead, change it here, with its reason.
package house
