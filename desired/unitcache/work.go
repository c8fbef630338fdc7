package unitcache

import "github.com/seawall-dev/seawall/desired/compile"

// work is one call of [Cache.Units].
type work struct {
	cache *Cache
	order Order
	room  int64 // bytes that units may still take
	units []compile.Unit
	used  map[string]record // what to remember, by address
	count Count
}

// recall takes what the cache has, and returns the folders that are missing.
func (w *work) recall() (missing []string, err error) {
	if w.cache == nil {
		return w.order.Folders, nil
	}
	for _, folder := range w.order.Folders {
		address := w.order.Prints.Address(w.cache.program, folder)
		r, inMemory, ok := w.cache.find(address, folder, w.order)
		if !ok {
			missing = append(missing, folder)
			continue
		}
		if inMemory {
			w.count.Memory++
		} else {
			w.count.Disk++
		}
		if w.room -= r.size; w.room < 0 {
			return nil, ErrTooMuch
		}
		w.take(address, r)
	}
	return missing, nil
}

func (w *work) take(address string, r record) {
	w.units = append(w.units, r.unit)
	w.used[address] = r
}

// keep takes what was evaluated, and keeps what may be kept.
func (w *work) keep(results []Result) {
	for _, result := range results {
		w.count.Evaluated++
		size := result.Encoded.Size()
		if w.cache == nil || size == 0 || result.Unit.Looked == nil {
			w.units = append(w.units, result.Unit)
			continue
		}
		address := w.order.Prints.Address(w.cache.program, result.Unit.Dir)
		r := record{looked: w.order.Prints.Of(result.Unit.Looked), unit: result.Unit, size: size}
		w.take(address, r)
		if w.cache.disk != nil {
			w.cache.disk.store(address, r.looked, result.Encoded)
		}
	}
}

// complete makes units whole.
func (w *work) complete(whole map[string]bool) (err error) {
	outlined := map[string]record{}
	for _, r := range w.used {
		if r.encoded.Size() > 0 {
			outlined[r.unit.Dir] = r
		}
	}
	for i, u := range w.units {
		r, is := outlined[u.Dir]
		switch {
		case !is:
		case !whole[u.Dir]:
			w.count.Outlined++
		default:
			if w.units[i], err = r.encoded.Unit(); err != nil {
				return err // its checksum was right: it is no damage that another evaluation mends
			}
		}
	}
	return nil
}
