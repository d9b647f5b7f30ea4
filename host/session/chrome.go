package session

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

// chrome is browser.Chrome over the link of the moment. It never waits for a lost link: whoever calls decides whether
// what was lost may be sent again.
type chrome struct{ m *Manager }

var _ browser.Batcher = chrome{}

// Send runs a CDP command.
func (c chrome) Send(ctx context.Context, tab protocol.TabID, session string, act bool, method string, params, result any) error {
	conn, err := c.m.link()
	if err != nil {
		return err
	}
	send, err := sending(tab, session, act, method, params)
	if err != nil {
		return err
	}
	return conn.Call(ctx, protocol.MethodSend, send, result)
}

// SendAll puts several commands on the wire together, in order, and waits for all answers.
func (c chrome) SendAll(ctx context.Context, tab protocol.TabID, session string, act bool, commands []browser.Command) error {
	conn, err := c.m.link()
	if err != nil {
		return err
	}
	calls := make([]any, len(commands))
	for i, command := range commands {
		if calls[i], err = sending(tab, session, act, command.Method, command.Params); err != nil {
			return err
		}
	}
	return conn.CallAll(ctx, protocol.MethodSend, calls)
}

func sending(tab protocol.TabID, session string, act bool, method string, params any) (p protocol.SendParams, err error) {
	text := jsontext.Value("{}")
	if params != nil {
		if text, err = json.Marshal(params); err != nil {
			return p, fmt.Errorf("encoding %s: %w", method, err)
		}
	}
	return protocol.SendParams{Tab: tab, Session: session, Method: method, Params: text, Act: act}, nil
}

// link is the link to the extension now, or transport_lost.
func (m *Manager) link() (Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil, protocol.Errorf(protocol.TransportLost, "the extension is not connected")
	}
	return m.conn, nil
}

// awaitLink waits until the extension is there, or with ctx.
func (m *Manager) awaitLink(ctx context.Context) (Conn, error) {
	for {
		m.mu.Lock()
		conn, linked := m.conn, m.linked
		m.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		select {
		case <-linked:
		case <-ctx.Done():
			return nil, protocol.Errorf(protocol.TransportLost, "the extension did not come back in time").
				With("hint", "Chrome may be closed or its extension asleep; call browser_state.")
		}
	}
}

// awaitLoss waits, after a call found the link broken, until the manager has heard of it too, or with ctx.
func (m *Manager) awaitLoss(ctx context.Context) {
	m.mu.Lock()
	lost, there := m.lost, m.conn != nil
	m.mu.Unlock()
	if !there {
		return
	}
	select {
	case <-lost:
	case <-ctx.Done():
	}
}
