package main

import (
	"strings"
	"testing"
	"time"
)

func TestFlagsAndEnvironment(t *testing.T) {
	s, err := parse([]string{"--consent=deny", "--idle-timeout", "5m"}, []string{"TABVALET_IDLE_TIMEOUT=1m", "TABVALET_LOG_JSON=true", "TABVALET_TOOLS=core", "PATH=/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if s.consent != "deny" || s.idle != 5*time.Minute || !s.logJSON || s.tools != "core" || s.budget != 55*time.Second {
		t.Errorf("%+v", s)
	}
}

func TestSettingsOnlyTighten(t *testing.T) {
	for _, args := range []string{
		"--consent=always", "--consent=elicit", "--grant-ttl=11m", "--consent-timeout=6m", "--release-grace=3s", "--idle-timeout=16m",
		"--call-budget=0s", "--grant-ttl=-1s", "--capture-keep=0", "--tools=nope", "--tools=", "--log-level=loud", "--unknown", "stray",
		"--sealed", // its promise is shown to the owner, and nothing keeps it yet
	} {
		if _, err := parse(strings.Fields(args), nil); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
	for _, env := range []string{"TABVALET_GRANT_TTL=11m", "TABVALET_GRANT_TTL=soon", "TABVALET_CONSENT=always", "TABVALET_SEALED=true"} {
		if _, err := parse(nil, []string{env}); err == nil {
			t.Errorf("%s was taken", env)
		}
	}
}

func TestUsageNamesEveryFlag(t *testing.T) {
	for _, name := range []string{"consent", "sealed", "grant-ttl", "consent-timeout", "call-budget", "release-grace", "idle-timeout", "capture-dir", "capture-keep", "tools", "name", "trace", "log-level", "log-json"} {
		if !strings.Contains(usage(), "--"+name) {
			t.Errorf("no --%s", name)
		}
	}
}
