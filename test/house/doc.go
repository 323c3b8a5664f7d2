// Package house holds the architecture of p8 as tests: which package may import
// which, which packages other modules can import and what they export, which
// may reach the network, the file system, the environment, the clock or the
// database, what every package must explain about itself, and what no file may
// hold. A failure says what to change. To change the rule instead, change its
// list here, with the reason.
package house
