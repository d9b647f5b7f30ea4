package browser

import (
	"context"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Printout is the page as a PDF.
type Printout struct {
	Data     []byte
	Document Document
}

// PDF prints the page. A frame that may not be read cannot be covered in a PDF, so a page that shows one is not printed.
func (t *Tab) PDF(ctx context.Context, readable func(origin string) bool) (*Printout, error) {
	doc, err := t.main()
	if err != nil {
		return nil, err
	}
	if readable != nil && !t.mayRead(doc.Frame, readable) {
		return nil, protocol.Errorf(protocol.NotSharedSite, "the tab shows a site that is not shared")
	}
	if doc.ContentType == "application/pdf" {
		return nil, protocol.Errorf(protocol.Unavailable, "the tab shows a PDF already").With("hint", "Its own file is the body of its request: see browser_network_requests.")
	}
	masks, err := t.masks(ctx, readable, metrics{})
	if err != nil {
		return nil, err
	}
	if len(masks) > 0 {
		return nil, protocol.Errorf(protocol.NotSharedSite, "the page shows %d frames of sites that are not shared, and a PDF would hold them", len(masks)).
			With("hint", "Take a screenshot: there they are painted over.")
	}
	ctx, done, err := t.into(ctx, doc, 2*t.opt.ReadTimeout)
	if err != nil {
		return nil, err
	}
	defer done()
	var got struct {
		Data []byte `json:"data"`
	}
	if err := t.session("").Call(ctx, "Page.printToPDF", map[string]bool{"printBackground": true, "generateTaggedPDF": true}, &got); err != nil {
		return nil, cause(ctx, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if doc.gone {
		return nil, errDocumentGone
	}
	return &Printout{got.Data, doc.Document}, nil
}
