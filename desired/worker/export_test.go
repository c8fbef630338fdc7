package worker

// StartNow starts the process, and returns when it has.
func (s *Spare) StartNow() { s.start() }

// PID is that of the process that waits, 0 for none.
func (s *Spare) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		return 0
	}
	return s.waiting.cmd.Process.Pid
}
