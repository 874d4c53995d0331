#!/usr/bin/env perl
# crowd.pl N: starts N child processes, which sleep, and then answers each question at once: the first
# free cell and the first piece that is left.
use strict;
use warnings;

$| = 1;
for (1 .. $ARGV[0]) {
    my $child = fork;
    defined $child or die "fork: $!";
    next if $child;
    close STDIN;
    close STDOUT;
    sleep 1 while 1;
}
while (my $line = <STDIN>) {
    my ($board, $piece) = split ' ', $line;
    my $cell = $piece eq '-' ? '-' : index($board, '.') + 1;
    my ($gift) = grep { index("$board$piece", $_) < 0 } 'A' .. 'P';
    $gift //= '-';
    print "$cell $gift\n";
}
