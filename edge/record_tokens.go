package edge

import "context"

// Tokens returns a recorder in front of p, whose calls are in the same list as
// those of r: so the order of both is known.
func (r *Recorder) Tokens(p TokenPlatform) TokenPlatform { return tokenRecorder{r, p} }

type tokenRecorder struct {
	list     *Recorder
	platform TokenPlatform
}

func (r tokenRecorder) CreateToken(ctx context.Context, spec TokenSpec) (CreatedToken, error) {
	r.list.note("POST " + TokensPath())
	return r.platform.CreateToken(ctx, spec)
}

func (r tokenRecorder) UserTokens(ctx context.Context) ([]Token, error) {
	r.list.note("GET " + TokensPath())
	return r.platform.UserTokens(ctx)
}

func (r tokenRecorder) UserToken(ctx context.Context, id TokenID) (Token, error) {
	r.list.note("GET " + TokenPath(id))
	return r.platform.UserToken(ctx, id)
}

func (r tokenRecorder) VerifyToken(ctx context.Context) (Token, error) {
	r.list.note("GET " + VerifyTokenPath())
	return r.platform.VerifyToken(ctx)
}

func (r tokenRecorder) PermissionGroups(ctx context.Context) ([]PermissionGroup, error) {
	r.list.note("GET " + PermissionGroupsPath(""))
	return r.platform.PermissionGroups(ctx)
}

func (r tokenRecorder) UpdateToken(ctx context.Context, id TokenID, body Token) (Token, error) {
	r.list.note("PUT " + TokenPath(id))
	return r.platform.UpdateToken(ctx, id, body)
}

func (r tokenRecorder) DeleteToken(ctx context.Context, id TokenID) error {
	r.list.note("DELETE " + TokenPath(id))
	return r.platform.DeleteToken(ctx, id)
}

func (r tokenRecorder) RollToken(ctx context.Context, id TokenID) (Secret, error) {
	r.list.note("PUT " + TokenValuePath(id))
	return r.platform.RollToken(ctx, id)
}
