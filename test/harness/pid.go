package harness

// PID is the process id of the server.
func (s *Server) PID() int { return s.p.cmd.Process.Pid }
