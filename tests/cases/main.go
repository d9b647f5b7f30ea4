// Cases plays pages that broke other tools, each with the outcome that is right, in one Chromium:
//
//	go run ./tests/cases [-run EXPRESSION] [-later] [-v]
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
var all = slices.Concat(names, moving, frames, forms, ways, dialogs, later)

// folder is where the pages are.
func folder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "pages")
}

func main() {
	run := flag.String("run", "", "only cases whose name this expression matches")
	early := flag.Bool("later", false, "cases that wait for something too")
	verbose := flag.Bool("v", false, "the time of each step too")
	flag.Parse()
	only, err := regexp.Compile(*run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	passed, failed, err := playAll(ctx, only, *early, *verbose)
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
func playAll(ctx context.Context, only *regexp.Regexp, early, verbose bool) (passed, failed int, err error) {
	s, err := newStage(ctx, os.DirFS(folder()))
	if err != nil {
		return 0, 0, err
	}
	defer s.close()
	if verbose {
		s.steps = os.Stdout
	}
	for _, c := range all {
		if !only.MatchString(c.slug) {
			continue
		}
		if c.waits != "" && !early {
			fmt.Printf("%-34s %-7s %s\n", c.slug, "skipped", c.waits)
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
	return passed, failed, nil
}
