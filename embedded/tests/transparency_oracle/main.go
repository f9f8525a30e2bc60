// Reads a transparency log with golang.org/x/mod/sumdb, the implementation of Go's checksum database: it opens the
// checkpoint's note, compares each entry with its leaf hash, and proves each leaf and each earlier head.
//
// Arguments: verifier key, directory, and earlier tree heads as "SIZE ROOT".
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func main() {
	if err := verify(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func verify(vkey, directory string, heads []string) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	signed, err := os.ReadFile(filepath.Join(directory, "checkpoint"))
	if err != nil {
		return err
	}
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return err
	}
	lines := strings.Split(opened.Text, "\n")
	tree, err := parseHead(lines[1] + " " + lines[2])
	if err != nil {
		return err
	}
	reader := tlog.TileHashReader(tree, tiles{directory})
	if err := verifyEntries(directory, tree, reader); err != nil {
		return err
	}
	for _, text := range heads {
		if err := verifyHead(text, tree, reader); err != nil {
			return err
		}
	}
	fmt.Printf("verified %d entries of %s and %d heads\n", tree.N, lines[0], len(heads))
	return nil
}

func parseHead(text string) (tlog.Tree, error) {
	size, root, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	hash, err := tlog.ParseHash(root)
	return tlog.Tree{N: n, Hash: hash}, err
}

func verifyEntries(directory string, tree tlog.Tree, reader tlog.HashReader) error {
	for first := int64(0); first < tree.N; first += 1 << height {
		width := min(tree.N-first, 1<<height)
		bundle, err := os.ReadFile(filepath.Join(directory, path("entries", first>>height, width)))
		if err != nil {
			return err
		}
		for index := first; index < first+width; index++ {
			length := int(binary.BigEndian.Uint16(bundle))
			hash := tlog.RecordHash(bundle[2 : 2+length])
			bundle = bundle[2+length:]
			proof, err := tlog.ProveRecord(tree.N, index, reader)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, hash); err != nil {
				return fmt.Errorf("entry %d: %w", index, err)
			}
		}
	}
	return nil
}

func verifyHead(text string, tree tlog.Tree, reader tlog.HashReader) error {
	head, err := parseHead(text)
	if err != nil {
		return err
	}
	proof, err := tlog.ProveTree(tree.N, head.N, reader)
	if err != nil {
		return err
	}
	return tlog.CheckTree(proof, tree.N, tree.Hash, head.N, head.Hash)
}

// tiles reads tiles of the layout of C2SP tlog-tiles.
type tiles struct{ directory string }

func (t tiles) Height() int { return height }

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		name := path(strconv.Itoa(tile.L), tile.N, int64(tile.W))
		data, err := os.ReadFile(filepath.Join(t.directory, name))
		if err != nil {
			return nil, err
		}
		found = append(found, data)
	}
	return found, nil
}

func path(level string, index, width int64) string {
	name := fmt.Sprintf("%03d", index%1000)
	for index >= 1000 {
		index /= 1000
		name = fmt.Sprintf("x%03d/%s", index%1000, name)
	}
	if width < 1<<height {
		name += fmt.Sprintf(".p/%d", width)
	}
	return "tile/" + level + "/" + name
}
