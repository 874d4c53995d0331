#!/usr/bin/env lua
-- A random player: any free cell, any piece left.
--
-- Run it:  ./random.lua  or  lua random.lua      (Debian package: lua5.4; Lua 5.3 or later)
-- It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

-- The value of an environment variable, nil when it is unset or empty.
local function setting(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

-- Lua's strings are bytes; this pattern matches one character of UTF-8.
local character = utf8.charpattern

local function read_pieces()
  local pieces = {}
  local path = setting("REFEREE_PIECES")
  if path then
    local file = assert(io.open(path))
    file:read("l") -- the header
    for row in file:lines() do
      -- The first character of each row that is not blank; the field may be quoted.
      pieces[#pieces + 1] = row:match('^%s*"?([^%s]' .. "[\x80-\xbf]*)")
    end
  else
    for piece in ("ABCDEFGHIJKLMNOP"):gmatch(".") do
      pieces[#pieces + 1] = piece
    end
  end
  return pieces
end

math.randomseed(tonumber(setting("REFEREE_SEED")) or os.time())
local pieces = read_pieces()

-- One of the items; `-` when there is none.
local function choose(items)
  return #items > 0 and items[math.random(#items)] or "-"
end

for line in io.lines() do
  local board, hand = line:match("(%S+) (%S+)")
  local cells, left, cell = {}, {}, 0
  for piece in board:gmatch(character) do
    cell = cell + 1
    if piece == "." and hand ~= "-" then
      cells[#cells + 1] = cell
    end
  end
  for _, piece in ipairs(pieces) do
    if not board:find(piece, 1, true) and piece ~= hand then -- true: as plain text
      left[#left + 1] = piece
    end
  end
  io.stderr:write("info gifts ", #left, "\n") -- what it thinks, for its record
  print(choose(cells) .. " " .. choose(left))
  io.stdout:flush()
end
