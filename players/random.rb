#!/usr/bin/env ruby
# A random player: any free cell, any piece left.
#
# Run it:  ./random.rb  or  ruby random.rb      (Debian package: ruby)
# It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

$stdout.sync = true # flush after each line
$stdin.set_encoding("UTF-8") # whatever the locale says

# The value of an environment variable, nil when it is unset or empty.
def setting(name)
  value = ENV[name]
  value unless value.nil? || value.empty?
end

def read_pieces
  path = setting("REFEREE_PIECES")
  return ("A".."P").to_a unless path

  rows = File.readlines(path, encoding: "bom|utf-8").drop(1) # without the header
  rows.map(&:strip).reject(&:empty?).map { |row| row.delete_prefix('"')[0] } # quoted or not
end

seed = setting("REFEREE_SEED")
random = seed ? Random.new(seed.to_i) : Random.new
pieces = read_pieces

$stdin.each_line do |line|
  board, hand = line.split
  cells = (1..16).select { |cell| board[cell - 1] == "." }
  left = pieces - board.chars - [hand]
  cell = hand == "-" ? "-" : cells.sample(random: random)
  gift = left.sample(random: random) || "-"
  warn "info gifts #{left.size}" # what it thinks, for its record
  puts "#{cell} #{gift}"
end
