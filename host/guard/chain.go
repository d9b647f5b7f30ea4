package guard

type chains struct{}

func newChains() chains { return chains{} }
