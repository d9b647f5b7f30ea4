package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxLine bounds one line of input. The longest honest line is a browser_type with a long text.
const MaxLine = 4 << 20

// A transport is the stdio of one client: one message a line. What is not a message is answered with a JSON-RPC error
// and the next line is served (the SDK's own stdio transport ends there), and every tools/call takes its place in order
// while it is read, because the SDK starts handlers concurrently.
type transport struct {
	in    io.Reader
	out   io.Writer
	order *order
}

// Connect starts the reader. It ends with in, and only then: a read of stdin cannot be interrupted.
func (t *transport) Connect(context.Context) (mcp.Connection, error) {
	c := &connection{
		out:     t.out,
		order:   t.order,
		lines:   make(chan line),
		closed:  make(chan struct{}),
		tickets: map[jsonrpc.ID]int64{},
	}
	go c.read(t.in)
	return c, nil
}

type line struct {
	text []byte
	err  error // errTooLong, or the end of the input
}

var errTooLong = errors.New("line too long")

type connection struct {
	order *order
	lines chan line

	writeMu sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	tickets map[jsonrpc.ID]int64 // of calls that were read and not answered yet

	closeOnce sync.Once
	closed    chan struct{}
}

func (c *connection) SessionID() string { return "" }

func (c *connection) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// read splits in into lines, until in ends or the connection is closed.
func (c *connection) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(r)
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && err != errTooLong {
			return
		}
	}
}

// readLine returns the next line without its end. Of a line over MaxLine it keeps nothing and reads on to its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > MaxLine; tooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(text) > 0: // a last line without an end
			return text, nil
		case err != nil:
			return nil, err
		case tooLong:
			return nil, errTooLong
		default:
			return text, nil
		}
	}
}

// Read returns the next message, answering by itself what is none.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var l line
		select {
		case l = <-c.lines:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case l.err == errTooLong:
			if err := c.refuse(nil, jsonrpc.CodeParseError, fmt.Sprintf("a line may hold %d bytes", MaxLine)); err != nil {
				return nil, err
			}
			continue
		case l.err != nil:
			return nil, l.err
		case blank(l.text):
			continue
		}
		msg, err := c.decode(l.text)
		if err == nil {
			return msg, nil
		}
		if err := c.refuse(diagnose(l.text)); err != nil {
			return nil, err
		}
	}
}

func blank(text []byte) bool {
	for _, b := range text {
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return false
		}
	}
	return true
}

func (c *connection) decode(text []byte) (jsonrpc.Message, error) {
	if !jsontext.Value(text).IsValid() { // stricter than the SDK: duplicate names, bad UTF-8, trailing text
		return nil, errors.New("not JSON")
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && req.Method == "tools/call" {
		n := c.order.take()
		c.mu.Lock()
		c.tickets[req.ID] = n
		c.mu.Unlock()
		req.Extra = &mcp.RequestExtra{Header: http.Header{orderHeader: {strconv.FormatInt(n, 10)}}}
	}
	return msg, nil
}

// diagnose says what is wrong with a line, and whose call it was if that can be read: a client that gets no answer to
// its id waits for ever. Nothing of the line itself is repeated; it may hold what the agent wanted to type.
func diagnose(text []byte) (id jsontext.Value, code int64, message string) {
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if !jsontext.Value(text).IsValid(lenient...) {
		return nil, jsonrpc.CodeParseError, "not JSON"
	}
	var envelope struct {
		ID jsontext.Value `json:"id"`
	}
	if json.Unmarshal(text, &envelope, lenient[0], lenient[1]) == nil {
		if kind := envelope.ID.Kind(); kind == '"' && envelope.ID.IsValid() || kind == '0' {
			id = envelope.ID
		}
	}
	return id, jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message (one per line, no batch, no name twice, valid UTF-8)"
}

// refuse answers a line that is no message.
func (c *connection) refuse(id jsontext.Value, code int64, message string) error {
	if id == nil {
		id = jsontext.Value("null")
	}
	return c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message))
}

// Write sends a message. An answer gives up its call's place in order, for calls whose handler never ran.
func (c *connection) Write(_ context.Context, msg jsonrpc.Message) error {
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		n, ok := c.tickets[resp.ID]
		delete(c.tickets, resp.ID)
		c.mu.Unlock()
		if ok {
			c.order.pass(n)
		}
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message to the client: %w", err)
	}
	return c.write(text)
}

func (c *connection) write(text []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if _, err := c.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}
