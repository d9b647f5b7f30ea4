//go:build deps

// Package tabvalet holds the module's dependencies until every package that needs them exists.
package tabvalet

import (
	_ "github.com/adrg/xdg"
	_ "github.com/chromedp/cdproto/accessibility"
	_ "github.com/chromedp/cdproto/page"
	_ "github.com/chromedp/chromedp"
	_ "github.com/coder/websocket"
	_ "github.com/dop251/goja"
	_ "github.com/go-json-experiment/json"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/rogpeppe/go-internal/txtar"
	_ "github.com/spf13/pflag"
	_ "golang.org/x/net/idna"
	_ "golang.org/x/net/publicsuffix"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/text/unicode/bidi"
	_ "golang.org/x/tools/txtar"
)
