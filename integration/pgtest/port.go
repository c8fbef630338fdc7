package pgtest

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports of servers are below those that the system gives to connections: one of these could have the
// port of a server that is to start again.
const lowestPort, highestPort = 12_000, 32_000

// freePort finds one that nobody has. Chance keeps it from others who look at the same time.
func freePort() (port int, err error) {
	for range 100 {
		port = lowestPort + rand.IntN(highestPort-lowestPort)
		var listener net.Listener
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, err
}
