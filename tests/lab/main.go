// Lab starts a disposable browser with Tab Valet paired to it, and then is the MCP stdio server: its stdin and stdout are
// those of a real tabvalet. A scripted owner opens approval links and answers questions.
//
//	go run ./tests/lab [--page URL]… [--allow CAP,…] [--deny CAP,…] [--control 127.0.0.1:PORT] [--serve DIR] [-- tabvalet flags]
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

func main() {
	flags := pflag.NewFlagSet("lab", pflag.ExitOnError)
	var opt kit.Options
	var do kit.Manners
	control := flags.String("control", "", "loopback `address` of the owner's control port")
	serve := flags.String("serve", "", "serve this `folder` of cases")
	flags.StringArrayVar(&do.Pages, "page", nil, "`URL` the owner shares when asked (repeatable, in turn)")
	flags.StringVar(&do.Access, "access", "act", "what the owner shares: read, act or submit")
	allow := flags.String("allow", "navigate,submit,read,upload,download,script,popup", "kinds of question the owner says yes to")
	deny := flags.String("deny", "", "kinds of question the owner says no to")
	flags.BoolVar(&opt.Headed, "headed", false, "show the browser")
	flags.StringVar(&opt.State, "state", "", "`folder` for everything; default a temporary one")
	flags.BoolVar(&opt.Keep, "keep", false, "leave the folder")
	flags.Parse(os.Args[1:])
	do.Allow, do.Deny = strings.Split(strings.ToLower(*allow), ","), strings.Split(strings.ToLower(*deny), ",")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, opt, do, *control, *serve, flags.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opt kit.Options, do kit.Manners, control, serve string, args []string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if serve != "" {
		var site *kit.Site
		site, err := kit.NewSite(kit.Cases(os.DirFS(serve), func() *kit.Site { return site }))
		if err != nil {
			return err
		}
		defer site.Close()
		log.Info("cases are served", "A", site.A, "B", site.B, "C", site.C, "S", site.S)
		do.Site = site
	}
	lab, err := kit.Start(ctx, opt)
	if err != nil {
		return err
	}
	defer lab.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	if control != "" {
		addr, err := lab.Control(ctx, control, do)
		if err != nil {
			return err
		}
		log.Info("the owner obeys", "control", "http://"+addr+"/owner")
	}
	return lab.ServeStdio(ctx, do, log, args)
}
