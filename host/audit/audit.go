// Package audit is the record: what an agent did in which tab, written before it is done.
//
// Each host process (an instance) appends to its own files in one directory, <day>-<instance>.jsonl, one JSON row a line.
// [Log.Intent] returns only when its row is on disk, so an act whose intent could not be written is never sent: the
// error is audit_unavailable, and reads go on. [Log.Result] and [Log.Note] do not wait for the disk.
//
// A row carries the hash of the row before; a file's first row carries the ends of the files before it; and each new end
// goes through [Log.OnRow] to the extension, a place the writer does not own. [Verify] compares all three. The limit:
// a program of the same user can rewrite every file here; only what the extension keeps shows it.
//
// After a failed write the file is left as it is, torn perhaps, and the next intent begins another, which says how many
// rows were lost and why.
package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// recent is how many rows the log keeps for an extension that links later.
const recent = 64

// A Log writes the record of one instance. All methods may be called from any goroutine.
type Log struct {
	// OnRow is told of each row as it is written, in order, with the base name of its file. It must not block and must
	// not call the log. Set it before the first row.
	OnRow func(file string, row protocol.Row)

	dir, instance string
	disk          disk
	now           func() time.Time
	start         time.Time
	salt          [32]byte

	mu     sync.Mutex
	client string
	seq    int64         // of the last row that was tried
	last   time.Time     // of the last row
	out    *segment      // nil: before the first row, and after a failure
	day    string        // of the newest file: days never go back, whatever the clock does
	head   protocol.Head // the last row that was written
	err    error         // why rows are refused now
	cause  error         // why the last file was left, until the next one has told
	tail   []tailRow
	closed bool
}

type tailRow struct {
	file string
	row  protocol.Row
}

var instancePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Open prepares the record of an instance in dir. Nothing is written before the first row, so a disk that is full or
// forbidden shows there. The only error is an instance id that cannot be part of a file name.
func Open(dir, instance, client string) (*Log, error) {
	if !instancePattern.MatchString(instance) {
		return nil, fmt.Errorf("opening the record: instance id %q", instance)
	}
	l := &Log{dir: dir, instance: instance, client: client, disk: realDisk, now: time.Now, start: time.Now()}
	rand.Read(l.salt[:])
	return l, nil
}

// SetClient replaces the client's claimed name in the rows that follow.
func (l *Log) SetClient(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client = name
}

// Intent records an act that is about to be sent and returns the row's number when it is safely on disk. On an error,
// always audit_unavailable, the act must not be sent.
func (l *Log) Intent(r Row) (int64, error) {
	r.Kind, r.Of = Intent, 0
	l.mu.Lock()
	if l.out == nil && l.err != nil && !l.closed {
		l.err = nil // every intent tries anew
	}
	seq, err := l.write(r)
	out := l.out
	l.mu.Unlock()
	if err != nil {
		return 0, unavailable(err)
	}
	// Outside the lock: other rows need not wait for this one's disk.
	if err := out.Sync(); err != nil {
		l.fail(out, fmt.Errorf("syncing the record: %w", err))
		return 0, unavailable(err)
	}
	return seq, nil
}

// Result records what became of the intent of that number.
func (l *Log) Result(of int64, r Row) {
	r.Kind, r.Of = Result, of
	l.note(r)
}

// Note records a row of kind [Read], [Hop] or [Event].
func (l *Log) Note(r Row) {
	switch r.Kind {
	case Read, Hop, Event:
	default:
		panic(fmt.Sprintf("audit: a note of kind %q", r.Kind))
	}
	r.Of = 0
	l.note(r)
}

func (l *Log) note(r Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(r) // A lost row is counted: the next file tells of it.
}

// Err is why rows cannot be written at present, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Recent gives the last rows in order, grouped by file, for an extension that has just linked.
func (l *Log) Recent() []protocol.Rows {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []protocol.Rows
	for _, t := range l.tail {
		if n := len(out); n == 0 || out[n-1].File != t.file {
			out = append(out, protocol.Rows{File: t.file})
		}
		rows := &out[len(out)-1].Rows
		*rows = append(*rows, t.row)
	}
	return out
}

// Head is the last row that was written; its Seq is 0 before there is one.
func (l *Log) Head() protocol.Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Digest gives a short digest of arguments. It is keyed by a secret of this process, so that equal arguments can be
// told within one host's rows while nobody can try out what they were.
func (l *Log) Digest(args []byte) string {
	m := hmac.New(sha256.New, l.salt[:])
	m.Write(args)
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// Close writes a last row, waits for the disk and ends the log. Later rows are refused.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	defer func() { l.closed, l.out, l.err = true, nil, errClosed }()
	if l.out == nil {
		return nil
	}
	_, err := l.write(Row{Kind: Closed})
	if err == nil {
		err = errors.Join(l.out.Sync(), l.out.Close())
	}
	return err
}

var errClosed = errors.New("the record is closed")

// write appends one row. Each row that is tried takes a number, so a lost one leaves a hole.
func (l *Log) write(r Row) (int64, error) {
	if l.err != nil {
		l.seq++
		return 0, l.err
	}
	now := l.now().UTC()
	if l.out == nil || now.Format(time.DateOnly) > l.day {
		if err := l.begin(now); err != nil {
			l.seq++
			l.stop(err)
			return 0, err
		}
	}
	row, line, err := l.compose(r, now)
	if err == nil {
		err = l.out.append(line)
	}
	if err != nil {
		l.seq++
		l.stop(err)
		return 0, err
	}
	l.commit(l.out, row, line)
	return row.Seq, nil
}

// compose gives the row its number, its time and its place in the chain.
func (l *Log) compose(r Row, now time.Time) (*Row, []byte, error) {
	r.clean()
	r.Seq, r.Time, r.Mono = l.seq+1, now.Truncate(time.Microsecond), int64(time.Since(l.start))
	r.Back = r.Time.Before(l.last)
	r.Instance, r.Client, r.Prev = l.instance, clip(l.client), ""
	if r.Kind != Opened {
		r.Prev = l.head.Hash
	}
	line, err := r.encode()
	return &r, line, err
}

// commit makes a row that stands in s the head.
func (l *Log) commit(s *segment, r *Row, line []byte) {
	l.seq, l.last = r.Seq, r.Time
	l.head = protocol.Head{File: s.name, Seq: r.Seq, Hash: hash(line)}
	row := protocol.Row{Seq: r.Seq, Hash: l.head.Hash, Row: line}
	l.tail = append(l.tail, tailRow{s.name, row})
	if len(l.tail) > recent {
		l.tail = append(l.tail[:0:0], l.tail[len(l.tail)-recent:]...)
	}
	if l.OnRow != nil {
		l.OnRow(s.name, row)
	}
}

// fail stops writing to s, unless another has taken its place already.
func (l *Log) fail(s *segment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == s {
		l.stop(err)
	}
}

// stop leaves the present file as it is. Only an intent opens another.
func (l *Log) stop(err error) {
	if l.out != nil {
		l.out.Close()
	}
	l.out, l.err, l.cause = nil, err, err
}

func unavailable(err error) error {
	return protocol.Errorf(protocol.AuditUnavailable, "the record cannot be written: %w", reason(err))
}
