package mcpserver

import (
	"context"
)

func dialogTools() []tool {
	return []tool{define(acts, "browser_handle_dialog", "Answer a dialog",
		"Answer the page's open alert, confirm or prompt; with none open, the next act's.", handleDialog)}
}

type dialogInput struct {
	tabInput
	Accept     bool   `json:"accept"`
	PromptText string `json:"promptText,omitzero"`
}

func handleDialog(ctx context.Context, c *call, in *dialogInput) (*answer, error) {
	r, err := c.server.opt.Session.HandleDialog(ctx, c.on(in.Tab), in.Accept, in.PromptText)
	return &answer{report: r, did: done(r)}, err
}
