package kit

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Site serves one handler on four origins: A, B and C are http on three different sites, S is https with a certificate
// that nobody trusts. Every request is logged before it is answered.
type Site struct {
	A, B, C, S string // base addresses, without a slash at the end

	mu       sync.Mutex
	requests []Request
	more     chan struct{} // closed and replaced with each request
	servers  []*http.Server
}

// A Request is one line of a site's log.
type Request struct {
	Origin string // "A", "B", "C" or "S"
	Method string
	Path   string
	Query  string
	Body   string
	Header http.Header
}

// NewSite starts a site on free ports of 127.0.0.1.
func NewSite(handler http.Handler) (*Site, error) {
	s := &Site{more: make(chan struct{})}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		plain.Close()
		return nil, err
	}
	port := strconv.Itoa(plain.Addr().(*net.TCPAddr).Port)
	s.A, s.B, s.C = "http://a.localhost:"+port, "http://b.localhost:"+port, "http://c.localhost:"+port
	s.S = "https://s.localhost:" + strconv.Itoa(secure.Addr().(*net.TCPAddr).Port)
	cert, err := untrusted()
	if err != nil {
		return nil, err
	}
	quiet := func(l net.Listener) {
		srv := &http.Server{Handler: s.logged(handler), ErrorLog: nil, ReadHeaderTimeout: 5 * time.Second}
		s.servers = append(s.servers, srv)
		go srv.Serve(l)
	}
	quiet(plain)
	quiet(tls.NewListener(secure, &tls.Config{Certificates: []tls.Certificate{cert}}))
	return s, nil
}

// Close ends the site and every connection to it.
func (s *Site) Close() {
	for _, srv := range s.servers {
		srv.Close()
	}
}

// Letter names the origin that a request was sent to.
func letter(r *http.Request) string {
	host := r.Host
	if r.TLS != nil {
		return "S"
	}
	for _, l := range []string{"b", "c"} {
		if len(host) > 2 && host[:2] == l+"." {
			return string(l[0] - 'a' + 'A')
		}
	}
	return "A"
}

func (s *Site) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 16<<20))
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, Request{letter(r), r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header.Clone()})
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// Requests gives the log so far; with origins, only theirs.
func (s *Site) Requests(origins ...string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pick(func(r Request) bool { return len(origins) == 0 || slices.Contains(origins, r.Origin) })
}

func (s *Site) pick(match func(Request) bool) []Request {
	var got []Request
	for _, r := range s.requests {
		if match(r) {
			got = append(got, r)
		}
	}
	return got
}

// Count gives the number of requests of that origin, method and path ("" matches any).
func (s *Site) Count(origin, method, path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pick(func(r Request) bool {
		return (origin == "" || r.Origin == origin) && (method == "" || r.Method == method) && (path == "" || r.Path == path)
	}))
}

// Wait waits until a request matches, and gives it.
func (s *Site) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		got, more := s.pick(match), s.more
		s.mu.Unlock()
		if len(got) > 0 {
			return got[0], nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return Request{}, context.Cause(ctx)
		}
	}
}

// Forget empties the log.
func (s *Site) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// untrusted makes a self-signed certificate for *.localhost.
func untrusted() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"s.localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
