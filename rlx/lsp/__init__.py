"""`rlx lsp`: an editor's server for Relax, over the Language Server Protocol."""
