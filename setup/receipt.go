package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/store"
)

const receiptFormat = "tabvalet-receipt/1"

// A receipt lists what setup has written, so that uninstalling removes that and nothing else. It is stored before what it
// lists is written, so a run that is cut short leaves nothing unlisted.
type receipt struct {
	Format  string   `json:"format"`
	Version string   `json:"version"`
	Binary  string   `json:"binary"` // what the launcher starts
	Trees   []string `json:"trees"`  // folders that are ours with all that is in them
	Files   []string `json:"files"`
	Keys    []string `json:"keys"` // of the registry, on Windows
	Dirs    []string `json:"dirs"` // folders that were made on the way: removed when they are empty
}

func receiptPath(dirs *store.Dirs) string { return filepath.Join(dirs.Data, "receipt.json") }

// readReceipt gives an empty receipt when there is none.
func readReceipt(dirs *store.Dirs) (*receipt, error) {
	path := receiptPath(dirs)
	data, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &receipt{Format: receiptFormat}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the receipt: %w", err)
	}
	r, err := decodeReceipt(data, dirs)
	if err != nil {
		return nil, fmt.Errorf("reading the receipt %s: %w", path, err)
	}
	return r, nil
}

// decodeReceipt refuses what could make uninstalling remove a stranger's things.
func decodeReceipt(data []byte, dirs *store.Dirs) (*receipt, error) {
	var r receipt
	if err := json.Unmarshal(data, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if r.Format != receiptFormat {
		return nil, fmt.Errorf("its format is %q, not %q", r.Format, receiptFormat)
	}
	for _, path := range slices.Concat(r.Files, r.Dirs) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return nil, fmt.Errorf("it lists %q", path)
		}
	}
	for _, tree := range r.Trees {
		if tree != extensionDir(dirs) { // removed with all that is in it, so nothing else may stand here
			return nil, fmt.Errorf("it lists the folder %q", tree)
		}
	}
	return &r, nil
}

func (r *receipt) write(dirs *store.Dirs) error {
	for _, list := range []*[]string{&r.Trees, &r.Files, &r.Keys, &r.Dirs} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	data, err := json.Marshal(r, jsontext.WithIndent("  "))
	if err == nil {
		err = store.WriteFile(receiptPath(dirs), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the receipt: %w", err)
	}
	return nil
}

// file lists a file and the folders that writing it will make.
func (r *receipt) file(path string) {
	r.Files = append(r.Files, path)
	r.Dirs = append(r.Dirs, absent(filepath.Dir(path))...)
}
