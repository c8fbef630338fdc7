package page

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/integration/must"
)

// TestTenThousandStreams: over real sockets 10,000 streams are asked for, by as many people as
// fill all places. The bound holds, other requests are answered meanwhile, a stream costs
// little, and all is released afterwards.
func TestTenThousandStreams(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Do(t, err)
	s := startEvents(t, listener)
	goroutines, memory := runtime.NumGoroutine(), memoryInUse()

	var mu sync.Mutex
	var open []net.Conn
	answers := map[int]int{}
	var group errgroup.Group
	group.SetLimit(200)
	for i := range 10000 {
		group.Go(func() error {
			c, status, err := askForStream(listener.Addr(), strconv.Itoa(i%400))
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
			if status != http.StatusOK {
				return c.Close() // each connection takes two files of this process
			}
			open = append(open, c)
			return nil
		})
	}
	must.Do(t, group.Wait())
	if answers[http.StatusOK] != mostStreams || answers[http.StatusServiceUnavailable] != 10000-mostStreams || s.count() != mostStreams {
		t.Errorf("answers by status: %v; %d streams are open", answers, s.count())
	}
	if each := (memoryInUse() - memory) / mostStreams; each > 80<<10 {
		t.Errorf("a stream costs %d bytes", each)
	}
	began := time.Now()
	r, err := http.Get("http://" + listener.Addr().String() + "/other")
	must.Do(t, err)
	r.Body.Close()
	if took := time.Since(began); r.StatusCode != http.StatusOK || took > 30*time.Second {
		t.Errorf("another request is answered with %s after %v", r.Status, took)
	}

	s.change() // all are written to, and none is read
	for _, c := range open {
		must.Do(t, c.Close())
	}
	http.DefaultClient.CloseIdleConnections()
	for deadline := time.Now().Add(10 * time.Second); s.count() > 0 || runtime.NumGoroutine() > goroutines+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are open, and %d goroutines run where %d did", s.count(), runtime.NumGoroutine(), goroutines)
		}
	}
}

// askForStream asks for a stream and reads no more than the status of the answer.
func askForStream(address net.Addr, who string) (c net.Conn, status int, err error) {
	if c, err = net.Dial("tcp", address.String()); err != nil {
		return nil, 0, err
	}
	if _, err = io.WriteString(c, "GET /events?who="+who+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return nil, 0, err
	}
	begin := make([]byte, len("HTTP/1.1 200"))
	if _, err = io.ReadFull(bufio.NewReaderSize(c, 16), begin); err != nil {
		return nil, 0, err
	}
	status, err = strconv.Atoi(string(begin[len("HTTP/1.1 "):]))
	return c, status, err
}

// memoryInUse is the memory of this process, without what can be freed.
func memoryInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
