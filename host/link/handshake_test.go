package link_test

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabvalet/tabvalet/host/link/linktest"
	"github.com/tabvalet/tabvalet/protocol"
)

func hello(versions, id, nonce string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"versions":%s,"profile":%q,"nonce":%q,"extension":"1"}}`,
		versions, id, nonce)
}

var nonceC = protocol.EncodeBytes(make([]byte, protocol.NonceSize))

func TestHandshakeRefusesFrames(t *testing.T) {
	good := hello("[1]", profile, nonceC)
	tests := []struct {
		name   string
		frames []string
		want   protocol.CloseCode
	}{
		{"not JSON", []string{"hello"}, 4400},
		{"an empty frame", []string{""}, 4400},
		{"too large", []string{good + strings.Repeat(" ", protocol.MaxHandshakeFrame)}, 1009},
		{"exactly too large by one", []string{good + strings.Repeat(" ", protocol.MaxHandshakeFrame+1-len(good))}, 1009},
		{"nested too deep", []string{strings.Repeat("[", 2000)}, 4400},
		{"a member in another case", []string{strings.Replace(good, `"profile"`, `"Profile"`, 1)}, 4400},
		{"a member with a Kelvin sign", []string{strings.Replace(good, `"extension"`, "\"e\u212Axtension\"", 1)}, 4400},
		{"a doubled member", []string{strings.Replace(good, `"versions"`, `"versions":[1],"versions"`, 1)}, 4400},
		{"an extra member", []string{strings.Replace(good, `"versions"`, `"more":1,"versions"`, 1)}, 4400},
		{"a missing member", []string{strings.Replace(good, `,"extension":"1"`, ``, 1)}, 4400},
		{"a null", []string{strings.Replace(good, `"versions":[1]`, `"versions":null`, 1)}, 4400},
		{"bytes after the message", []string{good + good}, 4400},
		{"invalid UTF-8", []string{strings.Replace(good, `"1"`, "\"\xff\"", 1)}, 4400},
		{"a note", []string{strings.Replace(good, `"id":1,`, ``, 1)}, 4400},
		{"prove first", []string{`{"jsonrpc":"2.0","id":1,"method":"prove","params":{"proof":"` + nonceC + `"}}`}, 4400},
		{"another method", []string{strings.Replace(good, "hello", "ping", 1)}, 4400},
		{"an answer", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}, 4400},
		{"a nonce of 31 bytes", []string{hello("[1]", profile, nonceC[:42])}, 4400},
		{"a nonce in standard base64", []string{hello("[1]", profile, strings.Repeat("+", 43))}, 4400},
		{"a nonce with padding", []string{hello("[1]", profile, nonceC+"=")}, 4400},
		{"a nonce with stray bits", []string{hello("[1]", profile, nonceC[:42]+"B")}, 4400},
		{"a profile id of another length", []string{hello("[1]", profile+"A", nonceC)}, 4400},
		{"no version", []string{hello("[]", profile, nonceC)}, 4426},
		{"version 0", []string{hello("[0]", profile, nonceC)}, 4426},
		{"version 99", []string{hello("[99]", profile, nonceC)}, 4426},
		{"hello twice", []string{good, good}, 4400},
		{"a short proof", []string{good, `{"jsonrpc":"2.0","id":2,"method":"prove","params":{"proof":"AA"}}`}, 4400},
		{"a wrong proof", []string{good, `{"jsonrpc":"2.0","id":2,"method":"prove","params":{"proof":"` + nonceC + `"}}`}, 4401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newHost(t).dial(t)
				for i, frame := range tt.frames {
					if err := s.Write(t.Context(), frame); err != nil {
						t.Fatalf("Write: %v", err)
					}
					if i < len(tt.frames)-1 {
						if m, err := s.Next(t.Context()); err != nil || m.Error != nil {
							t.Fatalf("frame %d: got %v, %v", i, m, err)
						}
					}
				}
				wantClose(t, s, tt.want)
			})
		})
	}
}

func TestHandshakeChoosesTheCommonVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHost(t).dial(t)
		s.Write(t.Context(), hello("[1,99]", profile, nonceC))
		m, err := s.Next(t.Context())
		if err != nil || !strings.Contains(string(m.Result), `"version":1,`) {
			t.Errorf("got %v, %v, want version 1", m, err)
		}
	})
}

func TestHandshakeNamesTheVersionsItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHost(t).dial(t)
		s.Write(t.Context(), hello("[99]", profile, nonceC))
		m, err := s.Next(t.Context())
		if err != nil || m.Error == nil || m.Error.Code != protocol.VersionUnsupported ||
			fmt.Sprint(m.Error.Data["supported"]) != "[1]" {
			t.Errorf("got %v, %v, want the supported versions", m, err)
		}
		wantClose(t, s, protocol.CloseVersionUnsupported)
	})
}

func TestHandshakeRefusesBinaryFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHost(t).dial(t)
		s.WriteBinary(t.Context(), []byte(hello("[1]", profile, nonceC)))
		wantClose(t, s, protocol.CloseBadMessage)
	})
}

// Whoever guesses sees the same of a profile that exists and of one that does not.
func TestUnknownProfileLooksLikeAWrongProof(t *testing.T) {
	for _, id := range []string{profile, stranger} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			opt := h.options
			opt.Profile = id
			s := h.dial(t)
			opt.Key = make([]byte, protocol.KeySize)
			hs, proof, err := s.Hello(t.Context(), opt)
			wantCode(t, "the host's proof", err, protocol.AuthFailed)
			_, err = s.Prove(t.Context(), hs.ClientProof(opt.Key, proof))
			wantCloseError(t, err, protocol.CloseAuthFailed)
		})
	}
}

func TestProofsThatMustNotVerify(t *testing.T) {
	key := testKey()
	tests := map[string]func(h *protocol.Handshake, hostProof []byte) []byte{
		"reflected":          func(_ *protocol.Handshake, p []byte) []byte { return p },
		"of the server":      func(h *protocol.Handshake, _ []byte) []byte { return h.ServerProof(key) },
		"of another key":     func(h *protocol.Handshake, p []byte) []byte { return h.ClientProof(make([]byte, 32), p) },
		"without the host's": func(h *protocol.Handshake, _ []byte) []byte { return h.ClientProof(key, nil) },
		"for another port": func(h *protocol.Handshake, p []byte) []byte {
			h.Addr = "127.0.0.1:47812"
			return h.ClientProof(key, p)
		},
		"for another instance": func(h *protocol.Handshake, p []byte) []byte {
			h.Instance = stranger
			return h.ClientProof(key, p)
		},
		"for another profile": func(h *protocol.Handshake, p []byte) []byte {
			h.Profile = stranger
			return h.ClientProof(key, p)
		},
		"for another extension": func(h *protocol.Handshake, p []byte) []byte {
			h.Origin += "x"
			return h.ClientProof(key, p)
		},
		"with other versions offered": func(h *protocol.Handshake, p []byte) []byte {
			h.Offered = []int{1, 2}
			return h.ClientProof(key, p)
		},
		"with another version chosen": func(h *protocol.Handshake, p []byte) []byte {
			h.Chosen = 2
			return h.ClientProof(key, p)
		},
	}
	for name, forge := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				s := h.dial(t)
				hs, proof, err := s.Hello(t.Context(), h.options)
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Prove(t.Context(), forge(hs, proof))
				wantCloseError(t, err, protocol.CloseAuthFailed)
			})
		})
	}
}

func TestReplayedProofIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		first := h.dial(t)
		hs, proof, err := first.Hello(t.Context(), h.options)
		if err != nil {
			t.Fatal(err)
		}
		old := hs.ClientProof(testKey(), proof)
		if _, err := first.Prove(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		first.CloseNow()
		// The same frames again, nonce included: the host's nonce is fresh.
		second := h.dial(t)
		second.Write(t.Context(), hello("[1]", profile, protocol.EncodeBytes(hs.NonceC)))
		if m, err := second.Next(t.Context()); err != nil || m.Error != nil {
			t.Fatalf("a nonce that was used before: got %v, %v", m, err)
		}
		_, err = second.Prove(t.Context(), old)
		wantCloseError(t, err, protocol.CloseAuthFailed)
	})
}

// A relay that sits on another port and passes everything on is found out by either side.
func TestRelayIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		opt := h.options
		opt.Port = port + 1 // where the extension was lured to
		opt.Header = map[string][]string{"Origin": {protocol.ExtensionOrigin}, "Host": {"127.0.0.1:47811"}}
		s, err := linktest.Dial(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.CloseNow()
		hs, proof, err := s.Hello(t.Context(), opt)
		wantCode(t, "the extension", err, protocol.AuthFailed)
		_, err = s.Prove(t.Context(), hs.ClientProof(opt.Key, proof))
		wantCloseError(t, err, protocol.CloseAuthFailed)
	})
}

func TestHandshakeHasATimeForEachStep(t *testing.T) {
	steps := map[string]func(t *testing.T, h *host, s *linktest.Socket){
		"silence": func(*testing.T, *host, *linktest.Socket) {},
		"after hello": func(t *testing.T, h *host, s *linktest.Socket) {
			time.Sleep(2 * time.Second)
			if _, _, err := s.Hello(t.Context(), h.options); err != nil {
				t.Error(err)
			}
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				s := h.dial(t)
				step(t, h, s)
				start := time.Now()
				wantClose(t, s, protocol.CloseTimeout)
				if took := time.Since(start); took != protocol.HandshakeTimeout {
					t.Errorf("closed after %v, want %v", took, protocol.HandshakeTimeout)
				}
			})
		})
	}
}

// Frames that no WebSocket library sends.
func TestRawFramesAreCutOff(t *testing.T) {
	huge := binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, 1<<63-1)
	fragments := []byte{0x01, 0x81, 0, 0, 0, 0, 'x'}
	for range 10_000 {
		fragments = append(fragments, 0x00, 0x81, 0, 0, 0, 0, 'x')
	}
	tests := map[string][]byte{
		"a header and then nothing": bytesOf(0x81, 0xfe, 0x0f, 0xff, 0, 0, 0, 0, 'x'),
		"a huge announced length":   append(huge, 0, 0, 0, 0, 'x'),
		"a negative length":         binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, 1<<63),
		"reserved bits":             bytesOf(0xf1, 0x81, 0, 0, 0, 0, 'x'),
		"an unmasked frame":         bytesOf(0x81, 0x01, 'x'),
		"ten thousand fragments":    fragments,
		"a long control frame":      append(bytesOf(0x89, 0xfe, 0x00, 0x7e, 0, 0, 0, 0), make([]byte, 126)...),
		"an unknown opcode":         bytesOf(0x83, 0x81, 0, 0, 0, 0, 'x'),
	}
	for name, frame := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				c, err := h.pipes.dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				start := time.Now()
				go func() {
					c.Write([]byte(upgrade()))
					c.Write(frame)
				}()
				buffer := make([]byte, 1<<16)
				for {
					if _, err := c.Read(buffer); err != nil {
						break
					}
				}
				if took := time.Since(start); took > protocol.HandshakeTimeout+time.Second {
					t.Errorf("open for %v", took)
				}
			})
		})
	}
}

func bytesOf(b ...byte) []byte { return b }

func TestRandomProofs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		const tries = 100
		start := time.Now()
		for range tries {
			s := h.dial(t)
			if _, _, err := s.Hello(t.Context(), h.options); err != nil {
				t.Fatal(err)
			}
			proof := make([]byte, protocol.ProofSize)
			rand.Read(proof)
			_, err := s.Prove(t.Context(), proof)
			wantCloseError(t, err, protocol.CloseAuthFailed)
		}
		synctest.Wait()
		if rows, most := h.log.lines(), 1+int(time.Since(start)/time.Second); rows > most {
			t.Errorf("%d failures made %d log rows, want at most %d", tries, rows, most)
		}
		if h.Conn() != nil {
			t.Error("one was let in")
		}
	})
}

func TestSecondConnectionIsRefusedWhileTheFirstAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		_, first := h.link(t)
		_, err := linktest.Connect(t.Context(), h.options)
		wantCloseError(t, err, protocol.CloseSuperseded)
		if h.Conn() != first {
			t.Error("the first connection is not the live one any more")
		}
		if err := first.Call(t.Context(), protocol.MethodTabClose, protocol.TabRef{Tab: 1}, nil); err != nil {
			t.Errorf("the first connection: %v", err)
		}
	})
}

func TestSecondConnectionReplacesADeadOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.proved(t) // and never reads
		first := <-h.connected
		start := time.Now()
		_, c := h.link(t)
		if took := time.Since(start); took < protocol.ProbeTimeout || took > protocol.ProbeTimeout+time.Second {
			t.Errorf("replaced after %v, want %v and a little", took, protocol.ProbeTimeout)
		}
		if h.Conn() != c || c == first {
			t.Error("the second connection is not the live one")
		}
		wantCode(t, "a call on the first", first.Call(t.Context(), protocol.MethodTabClose, protocol.TabRef{}, nil),
			protocol.TransportLost)
		if len(h.gone) != 1 {
			t.Errorf("Disconnected was called %d times before the second connected, want once", len(h.gone))
		}
	})
}

// Every message in every state: what the table allows is taken, all else ends the connection.
func TestEveryMessageInEveryState(t *testing.T) {
	for state := protocol.Opened; state <= protocol.Live; state++ {
		for _, m := range protocol.Methods {
			t.Run(fmt.Sprint(state, " ", m.Name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHost(t)
					s := h.dial(t)
					hs := &protocol.Handshake{}
					var proof []byte
					for at := protocol.Opened; at < state; at++ {
						var err error
						switch at {
						case protocol.Opened:
							hs, proof, err = s.Hello(t.Context(), h.options)
						case protocol.Greeted:
							_, err = s.Prove(t.Context(), hs.ClientProof(testKey(), proof))
						case protocol.Proved:
							if err = s.Write(t.Context(), reconcile); err == nil {
								_, err = s.Next(t.Context())
							}
						}
						if err != nil {
							t.Fatal(err)
						}
					}
					frame := protocol.Message{Method: m.Name, Params: []byte("{}")}
					if m.Kind == protocol.Call {
						frame.ID = 77
					}
					text, _ := frame.Encode()
					switch {
					case m.Name == protocol.MethodHello && state == protocol.Opened:
						text = []byte(hello("[1]", profile, nonceC))
					case m.Name == protocol.MethodProve && state == protocol.Greeted:
						text = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":77,"method":"prove","params":{"proof":%q}}`,
							protocol.EncodeBytes(hs.ClientProof(testKey(), proof)))
					case m.Name == protocol.MethodChunk && state >= protocol.Proved:
						text = []byte(`{"jsonrpc":"2.0","method":"chunk","params":{"id":1,"seq":0,"last":false,"data":"{"}}`)
					}
					if err := s.Write(t.Context(), string(text)); err != nil {
						t.Fatal(err)
					}
					switch {
					case m.From == protocol.FromHost && state >= protocol.Proved:
						wantClose(t, s, protocol.CloseNotPermitted)
					case m.From == protocol.FromHost || !m.Allows(state):
						wantClose(t, s, protocol.CloseBadMessage)
					default:
						// It was taken: the connection still answers, or goes on to the next state.
						if m.Kind == protocol.Call {
							if answer, err := s.Next(t.Context()); err != nil || answer.Kind() != protocol.Answer {
								t.Fatalf("got %v, %v, want an answer", answer, err)
							}
							return
						}
						s.Write(t.Context(), `{"jsonrpc":"2.0","id":78,"method":"ping","params":{}}`)
						if answer, err := s.Next(t.Context()); err != nil || answer.ID != 78 {
							t.Fatalf("got %v, %v, want an answer to a ping", answer, err)
						}
					}
				})
			})
		}
	}
}
