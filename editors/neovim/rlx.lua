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

-- what stands above a function (run, step, why, refines HEAD) is done in a terminal below
for _, name in ipairs({ "run", "step", "why", "refines" }) do
  vim.lsp.commands["rlx." .. name] = function(command)
    vim.cmd("botright new")
    vim.fn.termopen(command.arguments[1])
  end
end

if vim.lsp.config ~= nil then -- Neovim 0.11
  vim.lsp.config("rlx", config)
  vim.lsp.enable("rlx")
  return
end

-- the folder of the project around a file
local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  while true do
    for _, marker in ipairs(config.root_markers) do
      if vim.loop.fs_stat(folder .. "/" .. marker) then
        return folder
      end
    end
    local above = vim.fn.fnamemodify(folder, ":h")
    if above == folder then
      return nil
    end
    folder = above
  end
end

local clients = {} -- of Neovim 0.7, by folder
if vim.lsp.start == nil then -- and it does not look at what `vim.filetype.add` said
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    pattern = "*.rlx",
    callback = function()
      vim.bo.filetype = "relax"
    end,
  })
end
vim.api.nvim_create_autocmd("FileType", {
  pattern = config.filetypes,
  callback = function(event)
    local started = vim.tbl_extend("force", config, { root_dir = root_of(event.file) })
    if vim.lsp.start ~= nil then -- Neovim 0.8
      vim.lsp.start(started)
      return
    end
    local key = started.root_dir or ""
    if clients[key] == nil or vim.lsp.get_client_by_id(clients[key]) == nil then
      clients[key] = vim.lsp.start_client(started)
    end
    vim.lsp.buf_attach_client(event.buf, clients[key])
  end,
})
