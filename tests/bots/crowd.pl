#!/usr/bin/env perl
# crowd.pl N: starts N child processes, which sleep, and becomes thinks.pl, which answers each question at
# once.
use strict;
use warnings;

for (1 .. $ARGV[0]) {
    my $child = fork;
    defined $child or die "fork: $!";
    next if $child;
    close STDIN;
    close STDOUT;
    sleep 1 while 1;
}
my ($directory) = $0 =~ m{(.*)/};
exec "$directory/thinks.pl", 0, 0 or die "exec: $!";
