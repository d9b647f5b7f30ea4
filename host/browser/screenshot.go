package browser

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"

	"github.com/tabvalet/tabvalet/protocol"
)

// ScreenshotOptions choose what is captured.
type ScreenshotOptions struct {
	Target   string // only this element
	FullPage bool
	JPEG     bool // else PNG
	// Readable tells which origins' frames may be seen; nil: all. The boxes of others are painted over.
	Readable func(origin string) bool
}

// An Image is an encoded picture of at most 1568 pixels on its long side.
type Image struct {
	Data     []byte
	MIME     string
	W, H     int
	Origin   string
	Masked   int // frames painted over
	Document Document
}

// Bounds of a picture.
const (
	imageSide  = 1568    // pixels
	imageBytes = 4 << 20 // encoded
)

// Screenshot takes a picture, in a background tab too: there the capture of a still page hangs unless a screencast runs.
func (t *Tab) Screenshot(ctx context.Context, o ScreenshotOptions) (*Image, error) {
	release := t.cast.hold()
	defer release()
	return retried(func() (*Image, error) { return t.screenshot(ctx, o) })
}

func (t *Tab) screenshot(ctx context.Context, o ScreenshotOptions) (*Image, error) {
	doc, err := t.main()
	if err != nil {
		return nil, err
	}
	if o.Readable != nil && !t.mayRead(doc.Frame, o.Readable) {
		return nil, protocol.Errorf(protocol.NotSharedSite, "the tab shows a site that is not shared")
	}
	metrics, err := t.metrics(ctx)
	if err != nil {
		return nil, err
	}
	area := rect{metrics.scrollX, metrics.scrollY, metrics.width, metrics.height}
	switch {
	case o.Target != "":
		if area, err = t.areaOf(ctx, o, metrics); err != nil {
			return nil, err
		}
	case o.FullPage:
		area = rect{0, 0, metrics.pageWidth, metrics.pageHeight}
	}
	masks, err := t.masks(ctx, o.Readable, metrics)
	if err != nil {
		return nil, err
	}
	img := &Image{Masked: len(masks)}
	if err := t.capture(ctx, img, area, o, masks); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if doc.gone {
		return nil, errDocumentGone
	}
	img.Document, img.Origin = doc.Document, doc.Origin
	return img, nil
}

// metrics of the page, in CSS pixels.
type metrics struct{ scrollX, scrollY, width, height, pageWidth, pageHeight float64 }

func (t *Tab) metrics(ctx context.Context) (m metrics, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.CallTimeout, errSilent)
	defer cancel()
	l, err := cdp.Call(ctx, t.session(""), page.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return m, cause(ctx, err)
	}
	if l.CSSVisualViewport == nil || l.CSSContentSize == nil {
		return m, protocol.Errorf(protocol.ChromeError, "Chrome gives no layout of the page")
	}
	v := l.CSSVisualViewport
	return metrics{v.PageX, v.PageY, v.ClientWidth, v.ClientHeight, l.CSSContentSize.Width, l.CSSContentSize.Height}, nil
}

// areaOf gives the element's box on the page.
func (t *Tab) areaOf(ctx context.Context, o ScreenshotOptions, m metrics) (rect, error) {
	c, err := t.Check(ctx, CheckOptions{Target: o.Target, For: Hover, Readable: o.Readable})
	if code := protocol.CodeOf(err); code == protocol.Covered || code == protocol.Disabled || code == protocol.Outside {
		c, err = t.Check(ctx, CheckOptions{Target: o.Target, For: Aim, Readable: o.Readable})
	}
	if err != nil {
		return rect{}, err
	}
	if m, err = t.metrics(ctx); err != nil { // it may have scrolled
		return rect{}, err
	}
	box, err := t.box(ctx, c.Frame, c.rect)
	if err != nil {
		return rect{}, err
	}
	box.X += m.scrollX
	box.Y += m.scrollY
	if box.Width < 1 || box.Height < 1 {
		return rect{}, protocol.Errorf(protocol.Hidden, "%s has no size", c.Role)
	}
	return box, nil
}

// box gives the upright box around a rectangle of a frame, in the main frame's viewport.
func (t *Tab) box(ctx context.Context, frame string, r rect) (rect, error) {
	var corners []Point
	for _, p := range []Point{{r.X, r.Y}, {r.X + r.Width, r.Y}, {r.X, r.Y + r.Height}, {r.X + r.Width, r.Y + r.Height}} {
		q, err := t.surface(ctx, frame, p, false, false)
		if err != nil {
			return rect{}, err
		}
		corners = append(corners, q)
	}
	return around(corners), nil
}

func around(points []Point) rect {
	low, high := points[0], points[0]
	for _, p := range points {
		low.X, low.Y = math.Min(low.X, p.X), math.Min(low.Y, p.Y)
		high.X, high.Y = math.Max(high.X, p.X), math.Max(high.Y, p.Y)
	}
	return rect{low.X, low.Y, high.X - low.X, high.Y - low.Y}
}

// masks gives the boxes on the page of the frames that may not be seen. One that cannot be found out is an error: better
// no picture than one that shows it.
func (t *Tab) masks(ctx context.Context, readable func(string) bool, m metrics) (boxes []rect, err error) {
	if readable == nil {
		return nil, nil
	}
	type hidden struct {
		frame  string
		parent *document
	}
	var all []hidden
	t.mu.Lock()
	for _, n := range t.frames.list() {
		up := t.frames.nodes[n.parent]
		if n.id == t.frames.main || up == nil || up.doc == nil || readable(t.frames.readOrigin(n)) || !readable(t.frames.readOrigin(up)) {
			continue // what is inside a masked frame is masked with it
		}
		all = append(all, hidden{n.id, up.doc})
	}
	t.mu.Unlock()
	for _, h := range all {
		box, shown, err := t.frameBox(ctx, h.frame, h.parent)
		if err != nil {
			return nil, err
		}
		if shown {
			box.X += m.scrollX
			box.Y += m.scrollY
			boxes = append(boxes, box)
		}
	}
	return boxes, nil
}

// frameBox gives the box of a frame's element in the main frame's viewport; shown is false when it has none.
func (t *Tab) frameBox(ctx context.Context, frame string, parent *document) (box rect, shown bool, err error) {
	call, done, err := t.into(ctx, parent, t.opt.CallTimeout)
	if err != nil {
		return box, false, err
	}
	defer done()
	s := t.session(parent.session)
	owner, err := cdp.Call(call, s, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: cdp.FrameID(frame)})
	if err != nil {
		return box, false, cause(call, err)
	}
	quads, err := cdp.Call(call, s, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: owner.BackendNodeID})
	if err != nil || len(quads.Quads) == 0 {
		if call.Err() != nil {
			return box, false, cause(call, err)
		}
		return box, false, nil // it is not laid out
	}
	var corners []Point
	for _, q := range quads.Quads {
		for i := 0; i+1 < len(q); i += 2 {
			p, err := t.surface(ctx, t.sessionRoot(parent), Point{q[i], q[i+1]}, false, false)
			if err != nil {
				return box, false, err
			}
			corners = append(corners, p)
		}
	}
	return around(corners), true, nil
}

// sessionRoot gives the topmost frame of a document's session: boxes are told in its viewport.
func (t *Tab) sessionRoot(doc *document) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := doc.Frame
	for range 64 {
		n := t.frames.nodes[id]
		if n == nil {
			return id
		}
		up := t.frames.nodes[n.parent]
		if up == nil || up.session != doc.session {
			return id
		}
		id = up.id
	}
	return id
}

// capture takes the picture of an area of the page, scaled to fit, and paints the masks over it.
func (t *Tab) capture(ctx context.Context, img *Image, area rect, o ScreenshotOptions, masks []rect) error {
	scale := math.Min(1, imageSide/math.Max(area.Width, area.Height))
	for {
		data, err := t.shoot(ctx, area, scale, o)
		if err != nil {
			return err
		}
		config, format, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return protocol.Errorf(protocol.ChromeError, "Chrome's picture cannot be read: %v", err)
		}
		if long := max(config.Width, config.Height); long > imageSide { // more than one device pixel to a CSS pixel
			scale *= imageSide / float64(long) * 0.999
			continue
		}
		if len(masks) > 0 {
			if data, err = paintOver(data, area, masks, o.JPEG); err != nil {
				return err
			}
		}
		if len(data) > imageBytes && !o.JPEG {
			o.JPEG = true
			continue
		}
		img.Data, img.MIME, img.W, img.H = data, "image/"+format, config.Width, config.Height
		return nil
	}
}

func (t *Tab) shoot(ctx context.Context, area rect, scale float64, o ScreenshotOptions) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.CallTimeout, errSilent)
	defer cancel()
	p := page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: ptr(o.FullPage), OptimizeForSpeed: ptr(true),
		Clip: &page.Viewport{X: area.X, Y: area.Y, Width: area.Width, Height: area.Height, Scale: scale},
	}
	if o.JPEG {
		p.Format, p.Quality = page.CaptureScreenshotFormatJpeg, ptr(int64(80))
	}
	shot, err := cdp.Call(ctx, t.session(""), page.CaptureScreenshot, p)
	if err != nil {
		return nil, cause(ctx, err)
	}
	return shot.Data, nil
}

// paintOver covers boxes of the page with grey.
func paintOver(data []byte, area rect, masks []rect, asJPEG bool) ([]byte, error) {
	from, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, protocol.Errorf(protocol.ChromeError, "Chrome's picture cannot be read: %v", err)
	}
	b := from.Bounds()
	to := image.NewRGBA(b)
	draw.Draw(to, b, from, b.Min, draw.Src)
	sx, sy := float64(b.Dx())/area.Width, float64(b.Dy())/area.Height
	grey := image.NewUniform(color.RGBA{0x80, 0x80, 0x80, 0xFF})
	for _, m := range masks {
		box := image.Rect(int(math.Floor((m.X-area.X)*sx)), int(math.Floor((m.Y-area.Y)*sy)),
			int(math.Ceil((m.X+m.Width-area.X)*sx)), int(math.Ceil((m.Y+m.Height-area.Y)*sy)))
		draw.Draw(to, box.Add(b.Min).Intersect(b), grey, image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	if asJPEG {
		err = jpeg.Encode(&out, to, &jpeg.Options{Quality: 80})
	} else {
		err = png.Encode(&out, to)
	}
	return out.Bytes(), err
}
