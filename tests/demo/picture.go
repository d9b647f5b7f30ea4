package main

import (
	"encoding/base64"
	"fmt"
	"os"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
)

// sheet puts two screenshots side by side.
const sheet = `<!doctype html><style>
	body { margin: 0; padding: 28px; display: flex; gap: 24px; align-items: flex-start; background: #e8ece9; width: fit-content; }
	img { display: block; border-radius: 10px; box-shadow: 0 1px 3px #0003, 0 8px 28px #0002; }
</style><img src="data:image/png;base64,%s" width="760"><img src="data:image/png;base64,%s" width="372">`

// picture makes README's picture: the popup beside the tab that is lent, as they look at this moment.
func (d *demo) picture(path string) error {
	tab, err := d.lab.Owner.Page(d.ctx, d.site.A+"/tea/oolong")
	if err != nil {
		return err
	}
	left, err := tab.Screenshot(d.ctx)
	if err != nil {
		return err
	}
	desk := d.lab.Owner.Desk()
	var height float64
	if err := desk.Eval(d.ctx, `document.body.getBoundingClientRect().bottom`, &height); err != nil {
		return err
	}
	right, err := cdp.Call(d.ctx, desk, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &page.Viewport{Width: 372, Height: height + 12, Scale: 2}})
	if err != nil {
		return err
	}
	p, err := d.lab.Owner.OpenBackground(d.ctx, "data:text/html,<title>sheet</title>")
	if err != nil {
		return err
	}
	defer p.Close(d.ctx)
	if _, err := cdp.Call(d.ctx, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1212, Height: 540, DeviceScaleFactor: 1.5}); err != nil {
		return err
	}
	frame, err := cdp.Call(d.ctx, p, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	b64 := base64.StdEncoding.EncodeToString
	if _, err := cdp.Call(d.ctx, p, page.SetDocumentContent, page.SetDocumentContentParams{FrameID: frame.FrameTree.Frame.ID, HTML: fmt.Sprintf(sheet, b64(left), b64(right.Data))}); err != nil {
		return err
	}
	if err := p.WaitFor(d.ctx, `[...document.images].every((i) => i.complete && i.naturalWidth)`); err != nil {
		return err
	}
	shot, err := p.Screenshot(d.ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(path, shot, 0o644)
}
