#!/usr/bin/env php
<?php
// A random player: any free cell, any piece left.
//
// Run it:  ./random.php  or  php random.php      (Debian package: php-cli)
// It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

declare(strict_types=1);

/** The characters of a text; PHP's strings are bytes. */
function characters(string $text): array
{
    return preg_split('//u', $text, -1, PREG_SPLIT_NO_EMPTY);
}

/** The characters that stand for the pieces. */
function read_pieces(): array
{
    $path = getenv('REFEREE_PIECES') ?: '';
    if ($path === '') {
        return characters('ABCDEFGHIJKLMNOP');
    }
    $rows = array_slice(file($path), 1); // without the header
    $rows = array_filter(array_map('trim', $rows), fn ($row) => $row !== '');
    // A field may be quoted; then the character comes second.
    return array_map(fn ($row) => characters($row)[$row[0] === '"' ? 1 : 0], $rows);
}

/** One of the items; `-` when there is none. */
function choose(array $items): string
{
    return $items ? (string) $items[mt_rand(0, count($items) - 1)] : '-';
}

$seed = getenv('REFEREE_SEED') ?: '';
if ($seed !== '') {
    mt_srand((int) $seed);
}
$pieces = read_pieces();

while (($line = fgets(STDIN)) !== false) {
    [$text, $hand] = explode(' ', trim($line));
    $board = characters($text);
    $cells = $hand === '-' ? [] : array_keys($board, '.', true);
    $cells = array_map(fn ($index) => $index + 1, $cells);
    $left = array_values(array_diff($pieces, $board, [$hand]));

    $cell = choose($cells);
    $gift = choose($left);
    fwrite(STDERR, 'info gifts ' . count($left) . "\n"); // what it thinks, for its record
    fwrite(STDOUT, "$cell $gift\n"); // STDOUT is not buffered
}
