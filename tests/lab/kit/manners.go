package kit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Manners are how a scripted owner behaves without being told.
type Manners struct {
	Pages  []string // shared in turn, one for each approval; when they are used up, a new tab at what the agent asked for
	Access string   // of every share
	Allow  []string // kinds of question answered with yes
	Deny   []string // kinds of question answered with no; wins
	Site   *Site    // whose request log the control port shows
}

// Behave answers questions by the manners until ctx ends.
func (o *Owner) Behave(ctx context.Context, m Manners, log *slog.Logger) {
	for ctx.Err() == nil {
		q, err := o.Question(ctx)
		if err != nil {
			continue // nothing was asked for 15 s
		}
		kind := strings.ToLower(q.Kind)
		choice := "no"
		if slices.Contains(m.Allow, kind) && !slices.Contains(m.Deny, kind) {
			choice = "once"
			if !slices.Contains(q.Choices, choice) {
				choice = "while_shared"
			}
		}
		log.Info("the owner was asked", "kind", kind, "site", q.Site, "answer", choice)
		if err := o.Answer(ctx, q, choice); err != nil {
			log.Warn("answering", "err", err)
		}
	}
}

// ServeStdio runs a tabvalet whose stdin and stdout are this process's, with an owner of good manners, until it exits.
func (l *Lab) ServeStdio(ctx context.Context, m Manners, log *slog.Logger, args []string) error {
	cmd := l.command(ctx, args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		io.Copy(stdin, os.Stdin)
		stdin.Close()
	}()
	var pages struct {
		sync.Mutex
		used int
	}
	go l.Owner.Behave(ctx, m, log)
	err = tee(os.Stdout, stdout, func(link string) {
		go func() {
			pages.Lock()
			defer pages.Unlock()
			s := Sharing{Access: m.Access}
			if pages.used < len(m.Pages) {
				s.URL = m.Pages[pages.used]
				pages.used++
			}
			if err := l.Owner.Share(ctx, link, s); err != nil {
				log.Warn("sharing", "err", err)
			}
		}()
	})
	if werr := cmd.Wait(); werr != nil {
		var exit *exec.ExitError
		if !errors.As(werr, &exit) || ctx.Err() == nil {
			return werr
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// order is a request to the control port.
type order struct {
	Do       string `json:"do"`
	URL      string `json:"url,omitzero"`      // the tab, by the start of its address
	Selector string `json:"selector,omitzero"` // click
	Text     string `json:"text,omitzero"`     // type, eval
}

// Control serves POST /owner and GET /requests on a loopback address, and gives the address. What the owner is told:
// {"do": "allow" | "deny" | "takeover" | "handback" | "stop" | "private" | "open" | "click" | "type" | "eval" | "tabs" | "screenshot", …}.
func (l *Lab) Control(ctx context.Context, addr string, m Manners) (string, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		listener.Close()
		return "", errors.New("the control port must be on loopback")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /owner", func(w http.ResponseWriter, r *http.Request) {
		var o order
		if err := json.UnmarshalRead(r.Body, &o, json.RejectUnknownMembers(true)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		out, err := l.Owner.obey(ctx, o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		if png, ok := out.([]byte); ok {
			w.Header().Set("Content-Type", "image/png")
			w.Write(png)
			return
		}
		json.MarshalWrite(w, out)
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, r *http.Request) {
		if m.Site == nil {
			http.Error(w, "no site is served: --serve", http.StatusNotFound)
			return
		}
		json.MarshalWrite(w, m.Site.Requests())
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(listener)
	l.onClose(func() { srv.Close() })
	return listener.Addr().String(), nil
}

func (o *Owner) obey(ctx context.Context, d order) (any, error) {
	done := map[string]bool{"ok": true}
	switch d.Do {
	case "allow", "deny":
		q, err := o.Question(ctx)
		if err != nil {
			return nil, err
		}
		choice := "no"
		if d.Do == "allow" {
			choice = or(d.Text, "once")
		}
		return done, o.Answer(ctx, q, choice)
	case "takeover":
		return done, o.TakeOver(ctx, d.URL)
	case "private":
		return done, o.Private(ctx, d.URL)
	case "handback":
		return done, o.HandBack(ctx, d.URL)
	case "stop":
		return done, o.Stop(ctx, d.URL)
	case "open":
		_, err := o.Open(ctx, d.URL)
		return done, err
	case "tabs":
		return o.Leases(ctx)
	}
	p, err := o.Page(ctx, d.URL)
	if err != nil {
		return nil, err
	}
	switch d.Do {
	case "click":
		return done, p.Click(ctx, d.Selector)
	case "type":
		return done, p.Type(ctx, d.Text)
	case "eval":
		var v any
		return &v, p.Eval(ctx, d.Text, &v)
	case "screenshot":
		return p.Screenshot(ctx)
	}
	return nil, errors.New("unknown order " + js(d.Do))
}
