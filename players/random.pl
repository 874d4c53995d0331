#!/usr/bin/env perl
# A random player: any free cell, any piece left.
#
# Run it:  ./random.pl  or  perl random.pl      (Debian package: perl)
# It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

use strict;
use warnings;
use open qw(:std :encoding(UTF-8));    # whatever the locale says

$| = 1;                                # flush after each line
STDERR->autoflush(1);
srand($ENV{REFEREE_SEED}) if length($ENV{REFEREE_SEED} // '');

sub read_pieces {
    my $path = $ENV{REFEREE_PIECES};
    return 'A' .. 'P' unless length($path // '');
    open(my $file, '<', $path) or die "$path: $!\n";
    readline($file);                   # the header
    # The first character of each row that is not blank; a quoted field has it second.
    return map { /^\s*"?(\S)/ ? $1 : () } readline($file);
}

my @pieces = read_pieces();

while (my $line = <STDIN>) {
    my ($board, $hand) = split ' ', $line;
    my @cells = grep { substr($board, $_ - 1, 1) eq '.' } 1 .. 16;
    my @left = grep { index($board, $_) < 0 && $_ ne $hand } @pieces;
    my $cell = $hand eq '-' ? '-' : $cells[rand @cells];
    my $gift = @left ? $left[rand @left] : '-';
    printf STDERR "info gifts %d\n", scalar @left;    # what it thinks, for its record
    print "$cell $gift\n";
}
