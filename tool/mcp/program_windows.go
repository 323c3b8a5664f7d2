package mcp

import "os/exec"

// apart and endGroup are for systems with process groups.
func apart(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
