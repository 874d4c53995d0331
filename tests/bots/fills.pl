#!/usr/bin/env perl
# fills.pl PROCESSES MB: when it is asked first, so many child processes, or with 0 itself, fill MB of memory each and keep
# it. Answers the first free cell and the first piece that is left.
use strict;
use warnings;

$| = 1;
my ($processes, $mb) = @ARGV;
my @kept;
my $has_begun;

sub fill {
    push @kept, "\1" x (1 << 20) for 1 .. $mb;
}

sub begin {
    for (1 .. $processes) {
        if (!fork) {
            fill;
            sleep 600;
            exit;
        }
    }
    fill if !$processes;
    sleep 1;
}

while (my $line = <STDIN>) {
    begin if !$has_begun++;
    my ($board, $piece) = split ' ', $line;
    my $cell = $piece eq '-' ? '-' : index($board, '.') + 1;
    my ($gift) = grep { index("$board$piece", $_) < 0 } 'A' .. 'P';
    $gift //= '-';
    print "$cell $gift\n";
}
