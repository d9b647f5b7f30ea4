package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/protocol"
)

func TestWitnessStoresWhatCameMeanwhileTogether(t *testing.T) {
	dir := t.TempDir()
	var work []func() error
	w := newWitness(dir, func(f func() error) { work = append(work, f) })
	head := protocol.Head{File: "2026-11-30-YGFiY2RlZmdoaWprbG1ubw.jsonl", Hash: "0000000000000000000000000000000000000000000000000000000000000000"}
	for head.Seq = range int64(4) {
		w.shown("profile", []protocol.Head{head})
	}
	if len(work) != 1 {
		t.Fatalf("%d writes for one moment", len(work))
	}
	if err := work[0](); err != nil {
		t.Fatal(err)
	}
	m, err := audit.Mirrors(dir)
	if err != nil || len(m) != 1 || len(m[0].Heads) != 1 || m[0].Heads[0].Seq != 3 {
		t.Errorf("stored %+v (%v)", m, err)
	}
}

func TestWitnessAwaitsTheLastRowButNotLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWitness("", func(func() error) {})
		last := protocol.Head{File: "a", Seq: 7}
		go func() {
			time.Sleep(lastWord / 3)
			w.shown("profile", []protocol.Head{{File: "b", Seq: 9}, {File: "a", Seq: 6}})
			time.Sleep(lastWord / 3)
			w.shown("profile", []protocol.Head{last})
		}()
		began := time.Now()
		w.await(t.Context(), last)
		if took := time.Since(began); took != 2*(lastWord/3) {
			t.Errorf("waited %v for a row that was shown after %v", took, 2*(lastWord/3))
		}
		began = time.Now()
		w.await(t.Context(), protocol.Head{File: "a", Seq: 8})
		if took := time.Since(began); took != lastWord {
			t.Errorf("waited %v for a row that never comes", took)
		}
	})
}
