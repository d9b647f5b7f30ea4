package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tabvalet/tabvalet/host/mcpserver"
	"github.com/tabvalet/tabvalet/host/session"
)

// settings are the flags of the server. An agent could write them into a client's configuration, so they can only
// tighten what the owner's policy allows.
type settings struct {
	consent        string
	sealed         bool
	grantTTL       time.Duration
	consentTimeout time.Duration
	budget         time.Duration
	releaseGrace   time.Duration
	idle           time.Duration
	captureDir     string
	captureKeep    int
	tools          string
	name           string
	trace          string
	logLevel       string
	logJSON        bool
	version        bool
}

// envPrefix is put before a flag's name in capitals, with _ for -.
const envPrefix = "TABVALET_"

func flagSet(s *settings) *pflag.FlagSet {
	f := pflag.NewFlagSet("tabvalet", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringVar(&s.consent, "consent", "chrome", "where the owner is asked: `chrome or deny` (nobody is asked)")
	f.BoolVar(&s.sealed, "sealed", false, "not built yet: refused")
	f.DurationVar(&s.grantTTL, "grant-ttl", 10*time.Minute, "life of a grant to go to a site, at most 10m")
	f.DurationVar(&s.consentTimeout, "consent-timeout", 5*time.Minute, "no answer in this time is a no, at most 5m")
	f.DurationVar(&s.budget, "call-budget", 55*time.Second, "a call answers within this, whatever it waits for")
	f.DurationVar(&s.releaseGrace, "release-grace", 2*time.Second, "an unused single-use grant is taken back, at most 2s")
	f.DurationVar(&s.idle, "idle-timeout", 15*time.Minute, "a lease without a call ends, at most 15m")
	f.StringVar(&s.captureDir, "capture-dir", "", "`folder` of screenshots; default in the state folder")
	f.IntVar(&s.captureKeep, "capture-keep", 200, "how many screenshots are kept")
	f.StringVar(&s.tools, "tools", "all", "`core, all or a list` of names with commas")
	f.StringVar(&s.name, "name", "", "what the owner reads instead of the client's claimed `name`")
	f.StringVar(&s.trace, "trace", "", "`file` that gets every frame of the link")
	f.StringVar(&s.logLevel, "log-level", "info", "`level` of the log on stderr: debug, info, warn, error")
	f.BoolVar(&s.logJSON, "log-json", false, "the log as JSON")
	f.BoolVar(&s.version, "version", false, "print the version")
	return f
}

func usage() string { return flagSet(&settings{}).FlagUsages() }

// parse reads flags, and for those that are not given the environment.
func parse(args, environ []string) (*settings, error) {
	s := &settings{}
	f := flagSet(s)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("there is no command %q; see tabvalet help", f.Arg(0))
	}
	env := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	var errs []error
	f.VisitAll(func(flag *pflag.Flag) {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if value, ok := env[name]; ok && !flag.Changed {
			if err := flag.Value.Set(value); err != nil {
				errs = append(errs, fmt.Errorf("reading %s: %w", name, err))
			}
		}
	})
	return s, errors.Join(append(errs, s.check())...)
}

// check refuses what would loosen, and what cannot be.
func (s *settings) check() error {
	var errs []error
	for _, limit := range []struct {
		name     string
		value    time.Duration
		min, max time.Duration
	}{
		{"grant-ttl", s.grantTTL, time.Second, 10 * time.Minute},
		{"consent-timeout", s.consentTimeout, time.Second, 5 * time.Minute},
		{"call-budget", s.budget, time.Second, 55 * time.Second},
		{"release-grace", s.releaseGrace, time.Millisecond, 2 * time.Second},
		{"idle-timeout", s.idle, time.Second, 15 * time.Minute},
	} {
		if limit.value < limit.min || limit.value > limit.max {
			errs = append(errs, fmt.Errorf("--%s is %s to %s, and can only tighten", limit.name, limit.min, limit.max))
		}
	}
	if s.sealed { // a promise to the owner that nothing keeps must not be made
		errs = append(errs, errors.New("--sealed: this version cannot seal a tab yet"))
	}
	if s.consent != string(session.ConsentChrome) && s.consent != string(session.ConsentDeny) {
		errs = append(errs, fmt.Errorf("--consent is chrome or deny, not %q", s.consent))
	}
	if s.captureKeep < 1 {
		errs = append(errs, errors.New("--capture-keep is at least 1"))
	}
	if _, err := mcpserver.Choose(s.tools); err != nil {
		errs = append(errs, fmt.Errorf("reading --tools: %w", err))
	}
	if _, err := s.level(); err != nil {
		errs = append(errs, fmt.Errorf("reading --log-level: %w", err))
	}
	return errors.Join(errs...)
}

func (s *settings) level() (l slog.Level, err error) {
	return l, l.UnmarshalText([]byte(s.logLevel))
}
