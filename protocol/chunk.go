package protocol

import "unicode/utf8"

// ChunkSize is how much of a large message one chunk carries, before JSON escapes it (at most twice as much).
const ChunkSize = 256 << 10

// maxOpenChunks is how many messages may arrive in pieces at once.
const maxOpenChunks = 16

// Split cuts the text of a message that is over [MaxFrame] into chunks of one id. It is JSON, and so holds no control
// characters that would grow more than twofold.
func Split(id int64, text []byte) []Chunk {
	var chunks []Chunk
	for seq := 0; len(text) > 0; seq++ {
		n := min(ChunkSize, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		chunks = append(chunks, Chunk{ID: id, Seq: seq, Last: n == len(text), Data: string(text[:n])})
		text = text[n:]
	}
	return chunks
}

// A Joiner puts the chunks of one direction together again. The zero value is ready. It holds at most [MaxMessage] bytes.
type Joiner struct {
	open map[int64]*pieces
	size int
}

type pieces struct {
	text []byte
	seq  int
}

// Add takes the next chunk off the wire. It returns the whole text when c was its last piece, else nil. After an error
// (a [BadMessage] or [TooLarge]) the connection is of no use.
func (j *Joiner) Add(c Chunk) ([]byte, error) {
	p := j.open[c.ID]
	switch {
	case c.ID < 1 || c.ID > MaxID || c.Data == "":
		return nil, Errorf(BadMessage, "a chunk without an id or without data")
	case p == nil && c.Seq != 0:
		return nil, Errorf(BadMessage, "chunk %d of a message that has not begun", c.Seq)
	case p == nil && len(j.open) == maxOpenChunks:
		return nil, Errorf(BadMessage, "more than %d messages in pieces", maxOpenChunks)
	case p != nil && c.Seq != p.seq:
		return nil, Errorf(BadMessage, "chunk %d instead of %d", c.Seq, p.seq)
	case j.size+len(c.Data) > MaxMessage:
		return nil, Errorf(TooLarge, "chunks of more than %d bytes", MaxMessage)
	}
	if p == nil {
		p = new(pieces)
		if j.open == nil {
			j.open = make(map[int64]*pieces)
		}
		j.open[c.ID] = p
	}
	p.text = append(p.text, c.Data...)
	p.seq++
	j.size += len(c.Data)
	if !c.Last {
		return nil, nil
	}
	delete(j.open, c.ID)
	j.size -= len(p.text)
	return p.text, nil
}
