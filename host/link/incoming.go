package link

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// What the extension sends: answers to calls of ours, notes, and calls that we answer. All but the handlers of calls runs
// on the goroutine that reads.

// take handles one text: a frame, or what chunks were put together to.
func (c *Conn) take(data []byte) error {
	m, err := protocol.Decode(data)
	if err != nil {
		return err
	}
	if m.Kind() == protocol.Answer {
		c.settle(m)
		return nil
	}
	row, known := protocol.LookupMethod(m.Method)
	switch {
	case !known && c.state != protocol.Live:
		return protocol.Errorf(protocol.BadMessage, "an unknown message before %s", protocol.MethodReconcile)
	case !known && m.Kind() == protocol.Note:
		c.s.cfg.Logger.Debug("unknown note ignored")
		return nil
	case !known:
		return c.reply(m.ID, nil, protocol.Errorf(protocol.UnknownMethod, "no such method"))
	case row.From == protocol.FromHost:
		return protocol.Errorf(protocol.NotPermitted, "the extension may not send %s", m.Method)
	case row.Kind != m.Kind():
		return protocol.Errorf(protocol.BadMessage, "%s with or without an id", m.Method)
	case !row.Allows(c.state):
		return protocol.Errorf(protocol.BadMessage, "%s is not for a connection that is %v", m.Method, c.state)
	}
	switch m.Method {
	case protocol.MethodPing:
		return c.reply(m.ID, protocol.Empty{}, nil)
	case protocol.MethodChunk:
		return c.join(m.Params)
	case protocol.MethodReconcile:
		c.state = protocol.Live
	}
	if m.Kind() == protocol.Note {
		c.s.cfg.Handler.Note(c, m.Method, m.Params)
		return nil
	}
	return c.serve(m)
}

func (c *Conn) join(params jsontext.Value) error {
	var chunk protocol.Chunk
	if err := protocol.Unmarshal(params, &chunk); err != nil {
		return err
	}
	text, err := c.joiner.Add(chunk)
	if err != nil || text == nil {
		return err
	}
	if m, err := protocol.Decode(text); err == nil && m.Method == protocol.MethodChunk {
		return protocol.Errorf(protocol.BadMessage, "chunks within chunks")
	}
	return c.take(text)
}

// settle hands an answer to who waits for it. Nobody does if the call was abandoned.
func (c *Conn) settle(m protocol.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply, ok := c.waiting[m.ID]
	if !ok {
		return
	}
	delete(c.waiting, m.ID)
	if m.Error != nil {
		reply <- answered{err: m.Error}
		return
	}
	reply <- answered{result: m.Result}
}

// serve answers a call on a goroutine of its own.
func (c *Conn) serve(m protocol.Message) error {
	c.mu.Lock()
	repeated, busy := c.serving[m.ID], len(c.serving) >= protocol.MaxInFlight
	if !repeated && !busy {
		c.serving[m.ID] = true
	}
	c.mu.Unlock()
	if repeated {
		return protocol.Errorf(protocol.BadMessage, "a second call of the same id")
	}
	if busy {
		return c.reply(m.ID, nil, protocol.Errorf(protocol.Busy, "%d calls are in flight", protocol.MaxInFlight))
	}
	c.calls.Go(func() {
		result, err := c.s.cfg.Handler.Call(c.ctx, c, m.Method, m.Params)
		c.mu.Lock()
		delete(c.serving, m.ID)
		c.mu.Unlock()
		if err := c.reply(m.ID, result, err); err != nil {
			c.s.cfg.Logger.Debug("answer not sent", "method", m.Method, "err", err)
		}
	})
	return nil
}

// reply answers a call of the extension.
func (c *Conn) reply(id int64, result any, err error) error {
	m := protocol.Message{ID: id}
	if err == nil {
		if result == nil {
			result = protocol.Empty{}
		}
		m.Result, err = protocol.Marshal(result)
	}
	if err != nil {
		m.Result, m.Error = nil, c.refusal(err)
	}
	err = c.enqueue(laneUrgent, m)
	if code := protocol.CodeOf(err); err != nil && code != protocol.TransportLost { // an answer over a limit is no answer
		m.Result, m.Error = nil, protocol.Errorf(code, "the answer could not be sent")
		err = c.enqueue(laneUrgent, m)
	}
	return err
}

// refusal is what the extension is told of an error of ours.
func (c *Conn) refusal(err error) *protocol.Error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e
	}
	code := protocol.CodeOf(err)
	if code == protocol.Internal {
		c.s.cfg.Logger.Error("call failed", "err", err)
	}
	return protocol.Errorf(code, "%s", protocol.Lookup(code).Meaning)
}
