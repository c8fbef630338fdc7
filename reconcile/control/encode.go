package control

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seawall-dev/seawall/desired"
)

// A state is put on record as JSON values, one after the other: the state without its
// zones, and then each zone. They are compressed while they are made, since the text of
// ten thousand zones is 16 MiB, and making it at once takes three times that.

// zoneText is a zone of the account that has this index.
type zoneText struct {
	Account int
	Zone    desired.Zone
}

// EncodeState is a state as it is put on record.
func EncodeState(state desired.State) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		err = writeState(json.NewEncoder(w), state)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the declarations: %w", err)
	}
	return packed.Bytes(), nil
}

func writeState(to *json.Encoder, state desired.State) error {
	bare := state
	bare.Accounts = slices.Clone(state.Accounts)
	for i := range bare.Accounts {
		bare.Accounts[i].Zones = nil
	}
	if err := to.Encode(bare); err != nil {
		return err
	}
	for i, account := range state.Accounts {
		for _, z := range account.Zones {
			if err := to.Encode(zoneText{i, z}); err != nil {
				return err
			}
		}
	}
	return nil
}

// DecodeState is what [EncodeState] was made from; nothing is the empty state.
func DecodeState(data []byte) (state desired.State, err error) {
	if len(data) == 0 {
		return state, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return desired.State{}, err
	}
	from := json.NewDecoder(r)
	if err := from.Decode(&state); err != nil {
		return desired.State{}, err
	}
	for {
		var z zoneText
		switch err := from.Decode(&z); {
		case errors.Is(err, io.EOF):
			return state, nil
		case err != nil:
			return desired.State{}, err
		case z.Account < 0 || z.Account >= len(state.Accounts):
			return desired.State{}, fmt.Errorf("zone %s belongs to no account", z.Zone.Scope)
		}
		zones := &state.Accounts[z.Account].Zones
		*zones = append(*zones, z.Zone)
	}
}
