package session

import "sync"

// A mailbox runs what is posted to it, one after the other, on one goroutine: what is only touched there needs no lock.
// A posted function must not wait for anything, least of all for Chrome, whose answers may wait for a verdict that is
// given here.
type mailbox struct {
	mu     sync.Mutex
	posted []func()
	wake   chan struct{} // holds one token while something was posted
	closed bool
	done   chan struct{} // closed when the goroutine has ended
	after  func()        // runs there after each posted function, before do returns
}

func newMailbox(after func()) *mailbox {
	b := &mailbox{wake: make(chan struct{}, 1), done: make(chan struct{}), after: after}
	go b.run()
	return b
}

// post hands f over, in order, and never waits. After close it does nothing and reports false.
func (b *mailbox) post(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.posted = append(b.posted, f)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// do posts f and waits until it has run. It must not be called from a posted function. After close it does nothing and
// reports false.
func (b *mailbox) do(f func()) bool {
	ran := make(chan struct{})
	if !b.post(func() { f(); b.after(); close(ran) }) {
		return false
	}
	<-ran
	return true
}

// close lets what was posted run and ends the goroutine, without waiting.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.wake)
	}
}

func (b *mailbox) run() {
	defer close(b.done)
	for more := true; more; {
		_, more = <-b.wake
		b.mu.Lock()
		posted := b.posted
		b.posted = nil
		b.mu.Unlock()
		for _, f := range posted {
			f()
			b.after()
		}
	}
}
