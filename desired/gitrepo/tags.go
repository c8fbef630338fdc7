package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
)

// maxTags bounds how many tags of one commit are looked at.
const maxTags = 100

// bringTags fetches the annotated tags of a commit, and forgets those of
// commits before it. They are asked for by name and not left to the server's
// generosity: a tag may come long after the commit. No tag of any other commit
// is ever fetched.
func (f *fetch) bringTags(ctx context.Context, commit plumbing.Hash) error {
	if !f.source.Tags {
		return nil
	}
	tags := f.tagsOf(commit)
	var missing []config.RefSpec
	for _, tag := range tags {
		if f.storage.HasEncodedObject(tag.Hash()) != nil {
			missing = append(missing, refSpec(tag.Name().String(), keptTag(tag)))
		}
	}
	if len(missing) > 0 {
		if err := f.transfer(ctx, f.storage, 0, missing...); err != nil {
			return err
		}
	}
	return f.keepTags(tags)
}

// keptTag is our own ref for a tag. It has the tag's hash: the name is for
// others to choose.
func keptTag(tag *plumbing.Reference) plumbing.ReferenceName {
	return refTags + plumbing.ReferenceName(tag.Hash().String())
}

// keepTags makes these the tags that are kept, and no others.
func (f *fetch) keepTags(tags []*plumbing.Reference) error {
	kept := map[plumbing.ReferenceName]bool{}
	for _, tag := range tags {
		kept[keptTag(tag)] = true
		if err := f.repo.writeRef(keptTag(tag), tag.Hash()); err != nil {
			return err
		}
	}
	before, err := annotated(f.storage)
	if err != nil {
		return err
	}
	for _, tag := range before {
		if kept[tag.Name()] {
			continue
		}
		if err := f.storage.RemoveReference(tag.Name()); err != nil {
			return storeError("tidying", err)
		}
	}
	return nil
}

// tagsOf picks the annotated tags of the server that stand for a commit; where the ref that
// is followed is a tag, that one alone.
func (f *fetch) tagsOf(commit plumbing.Hash) []*plumbing.Reference {
	var tags []*plumbing.Reference
	for name, hash := range f.offered {
		other := isTag(f.source.Ref) && name != f.source.Ref
		if !other && isTag(name) && f.peeled[name] == commit && config.RefSpec(name+":"+name).Validate() == nil && checkRef(name) == nil {
			tags = append(tags, plumbing.NewHashReference(plumbing.ReferenceName(name), hash))
		}
	}
	slices.SortFunc(tags, func(a, b *plumbing.Reference) int { return cmp.Compare(b.Name(), a.Name()) })
	return tags[:min(len(tags), maxTags)]
}

func isTag(ref string) bool { return strings.HasPrefix(ref, "refs/tags/") }

// annotated lists the tags that the last fetch brought.
func annotated(st *filesystem.Storage) ([]*plumbing.Reference, error) {
	return refsBelow(st, refTags.String())
}

// keptTags lists the objects of those tags, for a compaction to keep.
func keptTags(st *filesystem.Storage) (hashes []plumbing.Hash, err error) {
	tags, err := annotated(st)
	for _, tag := range tags {
		if st.HasEncodedObject(tag.Hash()) == nil {
			hashes = append(hashes, tag.Hash())
		}
	}
	return hashes, err
}

// verifyTags looks for one tag of the commit that is signed as it should be.
func verifyTags(st *filesystem.Storage, commit, followed string, keys signature.Keys, now time.Time) error {
	tags, err := annotated(st)
	if err != nil {
		return err
	}
	why := error(&Error{Kind: ErrUnsigned, Doing: fmt.Sprintf("verifying commit %.12s", commit), Reason: "it has no annotated tag", Hint: tagHint})
	for _, tag := range tags {
		name, err := verifyTag(st, tag.Hash(), commit, followed, keys, now)
		if err == nil {
			return nil
		}
		why = refused(fmt.Sprintf("verifying tag %s of commit %.12s", name, commit), err)
	}
	return why
}

func verifyTag(st *filesystem.Storage, hash plumbing.Hash, commit, followed string, keys signature.Keys, now time.Time) (name string, err error) {
	name = hash.String()[:12]
	raw, err := rawObject(st, plumbing.TagObject, hash)
	if err != nil {
		return name, err
	}
	object, err := signature.ReadTag(raw)
	if err != nil {
		return name, err
	}
	switch {
	case object.Target != commit:
		return object.Name, untrusted("fetch again", "it stands for another commit")
	case isTag(followed) && "refs/tags/"+object.Name != followed:
		return object.Name, untrusted("sign a tag with that name", "it was signed under another name than %s", followed)
	}
	_, err = keys.Verify(object, now)
	if why, ok := errors.AsType[*signature.Error](err); ok && why.Kind == signature.ErrUnsigned {
		why.Hint = tagHint
	}
	return object.Name, err
}

const tagHint = "sign a tag of the commit with a trusted key (git tag -s NAME COMMIT) and push it"
