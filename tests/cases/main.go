// Cases plays pages that broke other tools, each with the outcome that is right, in one Chromium:
//
//	go run ./tests/cases [-run EXPRESSION]
//
// A case is a folder below pages, served on several sites as kit.Cases does, and a row in one of the tables here: what an
// agent calls, what the owner answers, what stands on the page and in the server's log at last. A case is a tab and a
// lease of its own. It stands for a kind of page: what makes it fail is mended in the engine, never in the page.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// all are the cases, in the order in which they are played.
var all = slices.Concat(names, moving)

// A postponed case waits for a tool that is not built yet. It is shown as skipped and counts as nothing.
type postponed struct{ slug, why string }

// folder is where the pages are.
func folder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "pages")
}

func main() {
	run := flag.String("run", "", "only cases whose name this expression matches")
	flag.Parse()
	only, err := regexp.Compile(*run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	passed, failed, err := playAll(ctx, only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "setting the stage:", err)
		os.Exit(1)
	}
	fmt.Printf("cases: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// playAll prints a row for each case.
func playAll(ctx context.Context, only *regexp.Regexp) (passed, failed int, err error) {
	s, err := newStage(ctx, os.DirFS(folder()))
	if err != nil {
		return 0, 0, err
	}
	defer s.close()
	for _, c := range all {
		if !only.MatchString(c.slug) {
			continue
		}
		begin := time.Now()
		err := s.play(ctx, &c)
		word := "ok"
		if err == nil {
			passed++
		} else {
			failed++
			word = "FAILED"
		}
		fmt.Printf("%-34s %-7s %6d ms  %s\n", c.slug, word, time.Since(begin).Milliseconds(), c.source)
		if err != nil {
			fmt.Println("    " + strings.ReplaceAll(err.Error(), "\n", "\n    "))
		}
	}
	for _, l := range later {
		if only.MatchString(l.slug) {
			fmt.Printf("%-34s %-7s %s\n", l.slug, "skipped", l.why)
		}
	}
	return passed, failed, nil
}
