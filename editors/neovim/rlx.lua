-- `rlx lsp` for Neovim: put this file into ~/.config/nvim/plugin/.
-- vim.g.rlx_python = true, set before, lets Python files be checked, too.

vim.filetype.add({ extension = { rlx = "relax" } })

local config = {
  name = "rlx",
  cmd = { "rlx", "lsp" },
  -- not in the folder that is edited, where Python would look for modules
  cmd_cwd = vim.env.VIMRUNTIME,
  cmd_env = { PYTHONSAFEPATH = "1" },
  filetypes = vim.g.rlx_python and { "relax", "python" } or { "relax" },
  root_markers = { "pyproject.toml", ".git" },
}

vim.api.nvim_create_autocmd("FileType", {
  pattern = "relax",
  callback = function()
    vim.bo.commentstring = "# %s"
    vim.bo.syntax = "python"
  end,
})

if vim.lsp.config ~= nil then -- Neovim 0.11
  vim.lsp.config("rlx", config)
  vim.lsp.enable("rlx")
else
  vim.api.nvim_create_autocmd("FileType", {
    pattern = config.filetypes,
    callback = function(event)
      config.root_dir = vim.fs.dirname(vim.fs.find(config.root_markers, { upward = true, path = event.file })[1])
      vim.lsp.start(config)
    end,
  })
end
