package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

// A stage is the one browser, with one site, in which all cases are played in turn.
type stage struct {
	lab   *kit.Lab
	site  *kit.Site
	steps io.Writer // nil, or where the time of each step goes
}

func newStage(ctx context.Context, pages fs.FS) (_ *stage, err error) {
	s := &stage{}
	if s.site, err = kit.NewSite(kit.Cases(pages, func() *kit.Site { return s.site })); err != nil {
		return nil, err
	}
	if s.lab, err = kit.Start(ctx, kit.Options{}); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) close() {
	if s.lab != nil {
		s.lab.Close()
	}
	s.site.Close()
}

// A play is one case under way.
type play struct {
	*stage
	*scenario
	ctx   context.Context
	host  *kit.Host // an agent of its own: one that hears no too often is paused
	fill  *strings.Replacer
	front string          // the owner's tab, which stays in front
	seen  string          // the latest snapshot
	eye   *kit.Page       // the owner's own look at the tab, if a step needs one
	all   strings.Builder // everything that tools answered
}

// play plays a case from an empty browser to an empty browser. The error says what was not as the case has it.
func (s *stage) play(ctx context.Context, c *scenario) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	on := func(base string) string { return base + "/" + c.slug }
	p := &play{stage: s, scenario: c, ctx: ctx, front: s.site.C + "/front/index.html",
		fill: strings.NewReplacer("{{A}}", on(s.site.A), "{{B}}", on(s.site.B), "{{C}}", on(s.site.C), "{{S}}", on(s.site.S))}
	if p.host, err = s.lab.StartHost(ctx, "Cases"); err != nil {
		return err
	}
	defer func() {
		p.host.Close()
		err = errors.Join(err, s.lab.Owner.CloseTabs(ctx))
	}()
	if err := p.lend(); err != nil {
		return fmt.Errorf("lending the tab: %w", err)
	}
	for i, st := range c.steps {
		begin := time.Now()
		err := p.step(st)
		if s.steps != nil {
			fmt.Fprintf(s.steps, "%6d ms  %s\n", time.Since(begin).Milliseconds(), st)
		}
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, st, err)
		}
	}
	return p.outcome()
}

func (s step) String() string {
	if s.tool == "" {
		return "the owner's hand"
	}
	return fmt.Sprintf("%s %.80v", s.tool, map[string]any(s.args))
}

// lend has the owner share a new tab at the case's page, behind the one in front.
func (p *play) lend() error {
	owner := p.lab.Owner
	if _, err := owner.Open(p.ctx, p.front); err != nil {
		return err
	}
	start := p.fill.Replace("{{A}}/" + cmp.Or(p.start, "index.html"))
	r, err := p.host.Call(p.ctx, "browser_connect", map[string]any{"reason": p.slug, "url": start})
	if err != nil {
		return err
	}
	if err := owner.Share(p.ctx, kit.Link(r.Text), kit.Sharing{}); err != nil {
		return err
	}
	if err := owner.Activate(p.ctx, p.front); err != nil { // the approval page has closed itself; what came up is Chrome's choice
		return err
	}
	if r, err = p.host.Call(p.ctx, "browser_connect", map[string]any{"wait_ms": 10000}); err != nil || r.IsError {
		return fmt.Errorf("%w%s", err, r.Text)
	}
	if p.grant {
		for _, st := range []step{navigate(p.site.B+"/front/index.html").asking("navigate", "while_shared"), navigate(start)} {
			if err := p.step(st); err != nil {
				return fmt.Errorf("granting B: %w", err)
			}
		}
	}
	p.site.Forget()
	return nil
}

// patience multiplies the times that cases allow: they are those of a machine that does nothing else.
const patience = 3

// step takes one step and compares its answer.
func (p *play) step(s step) error {
	if s.hand != nil {
		return s.hand(p)
	}
	arguments := map[string]any{}
	for k, v := range s.args {
		switch v := v.(type) {
		case ref:
			found := find(p.seen, v)
			if found == "" {
				return fmt.Errorf("no ref %q in the snapshot:\n%s", []string(v), p.seen)
			}
			arguments[k] = found
		case string:
			arguments[k] = p.fill.Replace(v)
		default:
			arguments[k] = v
		}
	}
	r, err := p.call(s.tool, arguments, s.owner)
	if err != nil {
		return err
	}
	p.all.WriteString(r.Text)
	if s.tool == "browser_snapshot" {
		p.seen = r.Text
	}
	if within := patience * cmp.Or(s.within, 10*time.Second); r.Took > within {
		return fmt.Errorf("took %v, want at most %v:\n%s", r.Took, within, r.Text)
	}
	if s.lost && r.Outcome() == "unknown" {
		return nil
	}
	if r.Code() != s.code {
		return fmt.Errorf("code %q, want %q:\n%s", r.Code(), s.code, r.Text)
	}
	for _, want := range s.tells {
		if want = p.fill.Replace(want); !strings.Contains(r.Text, want) {
			return fmt.Errorf("%q does not stand in the answer:\n%s", want, r.Text)
		}
	}
	for _, never := range s.hides {
		if strings.Contains(r.Text, never) {
			return fmt.Errorf("%q stands in the answer:\n%s", never, r.Text)
		}
	}
	return nil
}

// call calls a tool while the owner answers what is asked.
func (p *play) call(tool string, arguments map[string]any, answers []answer) (*kit.Result, error) {
	type ended struct {
		r   *kit.Result
		err error
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	c := make(chan ended, 1)
	go func() {
		r, err := p.host.Call(p.ctx, tool, arguments)
		if err == nil {
			cancel(fmt.Errorf("the call ended before: %s", r.Text))
		}
		c <- ended{r, err}
	}()
	for _, a := range answers {
		if err := p.answer(ctx, a); err != nil {
			return nil, err
		}
	}
	e := <-c
	return e.r, e.err
}

// answer waits for a question until ctx ends, and answers it.
func (p *play) answer(ctx context.Context, a answer) error {
	q, err := p.lab.Owner.Question(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("waiting for the question %s: %w", a.kind, err)
	case q.Kind != a.kind:
		return fmt.Errorf("the owner was asked about %q, want %q", q.Kind, a.kind)
	}
	if err := p.lab.Owner.Answer(p.ctx, q, a.choice); err != nil {
		return fmt.Errorf("answering %s: %w", a.choice, err)
	}
	return nil
}

// find gives the ref that the texts lead to, or "".
func find(snapshot string, r ref) string {
	lines := strings.Split(snapshot, "\n")
	at := 0
	for i, text := range r {
		last := i == len(r)-1
		n := slices.IndexFunc(lines[at:], func(line string) bool {
			return strings.Contains(line, text) && (!last || strings.Contains(line, "[ref="))
		})
		if n < 0 {
			return ""
		}
		at += n
	}
	_, rest, _ := strings.Cut(lines[at], "[ref=")
	found, _, _ := strings.Cut(rest, "]")
	return found
}

// page gives the lent tab as the owner sees it, wherever it is now.
func (p *play) page() (*kit.Page, error) {
	leases, err := p.lab.Owner.Leases(p.ctx)
	if err != nil {
		return nil, err
	}
	if len(leases) == 0 {
		return nil, errors.New("no tab is lent any more")
	}
	return p.lab.Owner.Page(p.ctx, leases[0].URL)
}

// attend has the owner look at the tab, so that the next dialog is theirs to close as well.
func (p *play) attend() (err error) {
	if p.eye, err = p.page(); err != nil {
		return err
	}
	_, err = cdp.Call(p.ctx, p.eye, page.Enable, page.EnableParams{})
	return err
}

func (p *play) closeDialog() error {
	if _, err := cdp.Call(p.ctx, p.eye, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
		return err
	}
	return p.eye.WaitFor(p.ctx, "true") // the page runs again
}

// outcome compares what came of it all: on the page, at the server, in every answer.
func (p *play) outcome() error {
	for _, secret := range p.secret {
		if strings.Contains(p.all.String(), secret) {
			return fmt.Errorf("an answer holds %q", secret)
		}
	}
	questions, err := p.lab.Owner.Questions(p.ctx)
	if err != nil || len(questions) > 0 {
		return fmt.Errorf("questions that nobody expected: %v %w", questions, err)
	}
	if len(p.shows) > 0 {
		if err := p.look(); err != nil {
			return err
		}
	}
	if active, err := p.lab.Owner.ActiveTab(p.ctx); err != nil || active != p.front {
		return fmt.Errorf("the tab in front is %q (%w), want the owner's", active, err)
	}
	return p.log()
}

func (p *play) look() error {
	tab, err := p.page()
	if err != nil {
		return fmt.Errorf("looking at the page: %w", err)
	}
	const text = `document.body.innerText.replace(/\s+/g, " ")`
	for _, want := range p.shows {
		if err := tab.WaitFor(p.ctx, fmt.Sprintf(`%s.includes(%q)`, text, want)); err != nil {
			var now string
			tab.Eval(p.ctx, text, &now)
			return fmt.Errorf("the page does not show %q but: %.600s", want, now)
		}
	}
	return nil
}

func (p *play) log() error {
	var lines []string
	for _, r := range p.site.Requests() {
		path, ok := strings.CutPrefix(r.Path, "/"+p.slug)
		if !ok {
			continue // the owner's
		}
		line := r.Origin + " " + r.Method + " " + path
		if r.Query != "" {
			line += "?" + r.Query
		}
		lines = append(lines, strings.TrimSpace(line+" "+r.Body))
	}
	count := func(start string) (n int) {
		for _, l := range lines {
			if strings.HasPrefix(l, start) {
				n++
			}
		}
		return n
	}
	for _, want := range p.got {
		if n := count(want); n != 1 {
			return fmt.Errorf("the server got %d of %q, want 1: %q", n, want, lines)
		}
	}
	for _, never := range p.never {
		if n := count(never); n != 0 {
			return fmt.Errorf("the server got %d of %q: %q", n, never, lines)
		}
	}
	return nil
}
